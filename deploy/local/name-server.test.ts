import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LOCAL_ZONE, publishLocally, startNameServer } from './name-server.ts'

test('serves what its zone file has at that moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'zone-'))
  const server = await startNameServer(folder)
  try {
    const [zone, address = ''] = server.zone.split('=')
    assert.equal(zone, LOCAL_ZONE)
    const resolver = new Resolver()
    resolver.setServers([address])
    const code = (promise: Promise<unknown>) => promise.then(String, (error: { code: string }) => error.code)
    assert.equal(await code(resolver.resolveTxt(`a._domainkey.news.${LOCAL_ZONE}`)), 'ENOTFOUND')
    appendFileSync(
      server.file,
      `a._domainkey.news.${LOCAL_ZONE}.\tIN\tTXT\t"v=DKIM1; k=rsa; " "p=abc" ; a key
@ 300 MX 10 mail.example.org.
Bounce.news CNAME mail
not a record
`,
    )
    assert.deepEqual(await resolver.resolveTxt(`a._domainkey.news.${LOCAL_ZONE}`), [['v=DKIM1; k=rsa; ', 'p=abc']])
    assert.equal((await resolver.resolveMx(LOCAL_ZONE))[0]?.exchange, 'mail.example.org')
    assert.deepEqual(await resolver.resolveCname(`bounce.NEWS.${LOCAL_ZONE}`), [`mail.${LOCAL_ZONE}`])
    const value = `v=spf1 ${'a '.repeat(200)}~all`
    publishLocally(folder, [{ name: `offers.${LOCAL_ZONE}`, type: 'TXT', value }])
    assert.equal((await resolver.resolveTxt(`offers.${LOCAL_ZONE}`))[0]?.join(''), value)
    assert.equal(await code(resolver.resolveMx(`news.${LOCAL_ZONE}`)), 'ENODATA')
  } finally {
    await server.stop()
    await rm(folder, { recursive: true })
  }
})
