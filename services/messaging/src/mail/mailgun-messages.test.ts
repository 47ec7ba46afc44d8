import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { DeliveryError } from './delivery-error.ts'
import { sendByMailgun } from './mailgun-messages.ts'

const ENDLESS = 'an answer without end'

function* repeating(text: string) {
  for (;;) yield text
}

describe('delivery by the hosted provider', () => {
  const asked: { url: string | undefined; headers: IncomingHttpHeaders; form: FormData }[] = []
  let answer: [status: number, body: string] = [200, '{"id":"<1>","message":"Queued. Thank you."}']
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url, headers } = request
    const body = new Response(Buffer.concat(chunks), { headers: { 'content-type': headers['content-type']! } })
    asked.push({ url, headers, form: await body.formData() })
    response.writeHead(answer[0], { location: 'http://127.0.0.1:1/' })
    if (answer[1] === ENDLESS) Readable.from(repeating('x'.repeat(100_000))).pipe(response)
    else response.end(answer[1])
  })
  const send = () => {
    const account = { apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'the key' }
    const payload = { from: 'a@m.example.com', to: 'b@example.com', raw: Buffer.from('Subject: S\r\n\r\nÜ\r\n') }
    return sendByMailgun(account, 'm.example.com', payload)
  }

  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => server.close().closeAllConnections())

  it('sends the whole message, and returns the provider’s reply', async () => {
    assert.equal(await send(), 'Queued. Thank you.')
    const { url, headers, form } = asked.at(-1)!
    assert.equal(url, '/v3/m.example.com/messages.mime')
    assert.equal(headers.authorization, `Basic ${Buffer.from('api:the key').toString('base64')}`)
    assert.equal(form.get('to'), 'b@example.com')
    assert.equal(await (form.get('message') as Blob).text(), 'Subject: S\r\n\r\nÜ\r\n')
  })

  for (const [status, body, kind, message] of [
    [400, '{"message":"to parameter is not valid"}', 'failed', '400 to parameter is not valid'],
    [401, 'Forbidden', 'failed', '401 Forbidden'],
    [429, '{"message":"slow down"}', 'transient', '429 slow down'],
    [503, '', 'transient', '503 no details'],
  ] as const) {
    it(`is ${kind} if the provider answers ${status}`, async () => {
      answer = [status, body]
      await assert.rejects(
        send(),
        (error: unknown) => error instanceof DeliveryError && error.kind === kind && error.message === message,
      )
    })
  }

  it('limits how much of an answer it reads', async () => {
    answer = [400, ENDLESS]
    const isCut = (error: unknown) => error instanceof DeliveryError && /^400 x{300}$/.test(error.message)
    await assert.rejects(send(), isCut)
    answer = [200, ENDLESS]
    assert.equal(await send(), 'x'.repeat(300))
  })

  it('does not follow redirects', async () => {
    answer = [302, '']
    await assert.rejects(send())
  })
})
