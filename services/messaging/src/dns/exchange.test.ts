import assert from 'node:assert/strict'
import { it } from 'node:test'
import { exchange } from './exchange.ts'

it('a server that there is no way to is unreachable, whatever address a zone names', async () => {
  // Broadcasting is refused by the system itself, before a packet leaves: as where there is no route.
  const server = { address: '255.255.255.255', port: 53 }
  const asked = exchange(server, { name: 'example.com', type: 'TXT', recursive: false }, AbortSignal.timeout(2000))
  await assert.rejects(asked, { name: 'DnsFailure', kind: 'unreachable' })
})
