import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LinkClicksJson, LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import { anonymousCaller, type Client } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { jsonOf, startOwnContent, type TestContent, testCaller } from '../../test/content.ts'
import { openCountries } from './countries.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('countries of visitors', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countries-'))
  const file = join(folder, 'countries.mmdb')
  let content: TestContent
  let links: Client<'rollcall.content.v1.Links'>
  before(async () => {
    writeFileSync(file, databaseOf(192, 'DE'))
    content = await startOwnContent({ GEOIP_FILE: file })
    links = content.client('rollcall.content.v1.Links')
  })
  after(async () => {
    await content?.stop()
    rmSync(folder, { recursive: true })
  })

  it('are read from a MaxMind database', async () => {
    const countryOf = await openCountries(file)
    assert.deepEqual(['192.0.2.1', '198.51.100.1', '', 'nonsense'].map(countryOf), ['DE', null, null, null])
  })

  it('need a file that is such a database', async () => {
    const other = join(folder, 'other.mmdb')
    writeFileSync(other, 'nothing')
    await assert.rejects(openCountries(other))
    await assert.rejects(openCountries(join(folder, 'missing.mmdb')))
  })

  it('are counted', async () => {
    const me = testCaller()
    const { id, slug } = await jsonOf<LinkJson>(links.createLink({ url: 'https://example.com/' }, me))
    for (const ip of ['192.0.2.1', '192.0.2.2', '198.51.100.1']) {
      const page = { key: slug, query: '', language: 'en', isHead: false, isPrefetch: false, contentType: '' } as const
      const request = { ...page, origin: '', referer: '', body: Buffer.alloc(0) }
      await links.followLink(request, { caller: { ...anonymousCaller(), ip, userAgent: FIREFOX } })
    }
    const end = Date.now() + scaledTimeout(10_000)
    for (;;) {
      const { countries } = await jsonOf<LinkClicksJson>(links.getLinkClicks({ id }, me))
      if (countries.reduce((sum, { clicks }) => sum + clicks, 0) === 3) {
        const expected = [
          { name: 'DE', clicks: 2 },
          { name: null, clicks: 1 },
        ]
        return assert.deepEqual(countries, expected)
      }
      assert.ok(Date.now() < end, `counted ${JSON.stringify(countries)}`)
      await sleep(20)
    }
  })
})

/** Returns a MaxMind database (MaxMind DB File Format 2.0) in which the addresses of a block /8 have a country. */
function databaseOf(firstByte: number, country: string): Buffer {
  const nodes = 8
  const tree = Buffer.alloc(nodes * 6)
  for (let node = 0; node < nodes; node++) {
    const bit = (firstByte >> (nodes - 1 - node)) & 1
    const next = node < nodes - 1 ? node + 1 : nodes + 16 // the first record of the data
    tree.writeUIntBE(next, node * 6 + bit * 3, 3)
    tree.writeUIntBE(nodes, node * 6 + (1 - bit) * 3, 3) // nothing is known
  }
  const data = mapOf({ country: mapOf({ iso_code: textOf(country) }) })
  const metadata = mapOf({
    binary_format_major_version: Buffer.from([0xa2, 0, 2]),
    binary_format_minor_version: Buffer.from([0xa2, 0, 0]),
    build_epoch: Buffer.from([8, 2, 0, 0, 0, 0, 0, 0, 0, 1]),
    database_type: textOf('Test'),
    description: mapOf({}),
    ip_version: Buffer.from([0xa2, 0, 4]),
    languages: Buffer.from([0, 4]),
    node_count: Buffer.from([0xc4, 0, 0, 0, nodes]),
    record_size: Buffer.from([0xa2, 0, 24]),
  })
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')])
  return Buffer.concat([tree, Buffer.alloc(16), data, marker, metadata])
}

function textOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x40 | text.length]), Buffer.from(text)])
}

function mapOf(entries: Record<string, Buffer>): Buffer {
  const parts = Object.entries(entries).flatMap(([key, value]) => [textOf(key), value])
  return Buffer.concat([Buffer.from([0xe0 | Object.keys(entries).length]), ...parts])
}
