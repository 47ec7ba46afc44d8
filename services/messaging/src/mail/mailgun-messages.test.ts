import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
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
  const send = (apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`) => {
    const account = { apiUrl, apiKey: 'the key' }
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

  const notTaken = { kind: 'transient', mayHaveArrived: false, isUnreachable: true }
  const unknown = { kind: 'transient', mayHaveArrived: true, isUnreachable: false }
  for (const [status, body, failure, message] of [
    [400, '{"message":"to parameter is not valid"}', { kind: 'failed' }, '400 to parameter is not valid'],
    [401, 'Forbidden', { kind: 'failed' }, '401 Forbidden'],
    [429, '{"message":"slow down"}', notTaken, '429 slow down'],
    [500, '', notTaken, '500 no details'],
    [502, '', unknown, '502 no details'],
    [503, '', notTaken, '503 no details'],
  ] as const) {
    it(`is ${failure.kind} if the provider answers ${status}`, async () => {
      answer = [status, body]
      await assert.rejects(send(), { name: 'DeliveryError', message, ...failure })
    })
  }

  it('knows that nothing was sent if there was no secure connection', async () => {
    const { port } = server.address() as AddressInfo
    await assert.rejects(send(`https://127.0.0.1:${port}`), notTaken)
    const closing = createTcpServer(socket => void socket.once('data', () => socket.end()))
    closing.listen(0, '127.0.0.1')
    await once(closing, 'listening')
    const closingPort = (closing.address() as AddressInfo).port
    try {
      await assert.rejects(send(`https://127.0.0.1:${closingPort}`), notTaken)
      await assert.rejects(send(`http://127.0.0.1:${closingPort}`), unknown)
    } finally {
      closing.close()
    }
  })

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
