import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { within } from '@rollcall/runtime'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { createResolver } from '../dns/resolver.ts'
import { compose } from './compose.ts'
import { DeliveryError } from './delivery-error.ts'
import { sendToExchangers } from './exchangers.ts'
import { CONNECTIONS_EACH, createSmtpConnections, type SmtpServer, smtpServerOf } from './smtp.ts'

const message = {
  messageId: '<1@example.com>',
  date: new Date(0),
  from: { name: 'Sender One', address: 'sender@example.com' },
  replyTo: null,
  subject: 'Subject',
  text: 'The text.\n.\nA line of a single dot before this one.',
  html: null,
}
const payloadTo = (to: string) => compose({ ...message, to })

/** Fails with this kind and this text. */
const failure = (kind: string, message: RegExp) => (error: unknown) =>
  error instanceof DeliveryError && error.kind === kind && message.test(error.message)

describe('delivery over SMTP', () => {
  const smtp = createSmtpConnections()
  const lookedUp: string[] = []
  const nextDoor = {
    allowPrivate: true,
    resolve: async (name: string) => {
      lookedUp.push(name)
      return [{ address: '127.0.0.1', family: 4 }]
    },
  }
  const outside = { ...nextDoor, allowPrivate: false }
  let server: MailServer
  const at = (more: Partial<SmtpServer> = {}): SmtpServer => ({
    host: 'mail.example.com',
    port: server.port,
    secure: false,
    auth: { user: 'user', pass: 'secret' },
    ...more,
  })

  before(async () => {
    server = await startMailServer({ user: 'user', secret: 'secret' })
  })
  afterEach(() => {
    lookedUp.length = 0
    server.refuse = () => undefined
  })
  after(async () => {
    smtp.close()
    await server.stop()
  })

  it('goes to the checked address, by TLS for the name, and returns the reply', async () => {
    const reply = await smtp.send(at(), await payloadTo('one@example.com'), nextDoor)
    assert.match(reply, /^250 /)
    const mail = await server.mailTo('one@example.com')
    assert.deepEqual([mail.servername, mail.user], ['mail.example.com', 'user'])
    assert.match(mail.raw.toString(), /^\.\r\nA line/m)
  })

  it('resolves the name once per connection, which it keeps for the next mail', async () => {
    const host = 'kept.example.com'
    for (const to of ['two@example.com', 'three@example.com'])
      await smtp.send(at({ host }), await payloadTo(to), nextDoor)
    assert.deepEqual(lookedUp, [host])
  })

  it('is refused at each connection once the name resolves to a private address', async () => {
    const connections = server.asked.length
    const sending = smtp.send(at({ host: 'rebound.example.com', port: 25 }), await payloadTo('x@example.com'), outside)
    await assert.rejects(sending, failure('failed', /^host: private, loopback/))
    assert.deepEqual([lookedUp, server.asked.length], [['rebound.example.com'], connections])
    const odd = smtp.send(at({ host: '0x7f.1', port: 25 }), await payloadTo('x@example.com'), outside)
    await assert.rejects(odd, failure('failed', /^host: private/))
    await assert.rejects(smtp.send(at(), await payloadTo('x@example.com'), outside), failure('failed', /port must be/))
  })

  it('distinguishes temporary from permanent failures', async () => {
    const cases: [reply: { code: number; message: string }, stage: string, kind: string, isBadAddress: boolean][] = [
      [{ code: 451, message: '4.7.1 Greylisted' }, 'RCPT', 'transient', false],
      [{ code: 452, message: 'Too many' }, 'DATA', 'transient', false],
      [{ code: 550, message: 'No such user' }, 'RCPT', 'bounced', true],
      [{ code: 550, message: '5.1.1 No such user' }, 'RCPT', 'bounced', true],
      [{ code: 550, message: '5.2.1 Mailbox disabled' }, 'RCPT', 'bounced', true],
      [{ code: 552, message: '5.2.2 Mailbox full' }, 'RCPT', 'bounced', false],
      [{ code: 554, message: '5.7.1 Relay access denied' }, 'RCPT', 'bounced', false],
      [{ code: 554, message: 'Looks like spam' }, 'DATA', 'bounced', false],
      [{ code: 550, message: '5.1.1 No such user after all' }, 'DATA', 'bounced', true],
    ]
    for (const [reply, at_, kind, isBadAddress] of cases) {
      server.refuse = (_to, stage) => (stage === at_ ? reply : undefined)
      const error: unknown = await smtp.send(at(), await payloadTo('x@example.com'), nextDoor).catch(error => error)
      assert.ok(error instanceof DeliveryError, reply.message)
      assert.deepEqual([error.kind, error.isBadAddress], [kind, isBadAddress], reply.message)
      assert.equal(error.message, `${reply.code} ${reply.message}`)
    }
  })

  it('fails permanently with a wrong password, and temporarily without a server', async () => {
    const wrong = smtp.send(at({ auth: { user: 'user', pass: 'wrong' } }), await payloadTo('x@example.com'), nextDoor)
    await assert.rejects(wrong, failure('failed', /^535 /))
    const closed = smtp.send(at({ port: 1 }), await payloadTo('x@example.com'), nextDoor)
    await assert.rejects(closed, failure('transient', /ECONNREFUSED/))
    const resolve = async () => Promise.reject(new Error('ENOTFOUND'))
    const unknown = smtp.send(at({ host: 'unknown.example.com' }), await payloadTo('x@example.com'), {
      ...nextDoor,
      resolve,
    })
    await assert.rejects(unknown, failure('transient', /ENOTFOUND/))
  })

  it('verifies settings on a connection of its own, without a mail', async () => {
    const mails = server.mails.length
    await smtp.verify(at(), nextDoor)
    await assert.rejects(
      smtp.verify(at({ auth: { user: 'user', pass: 'wrong' } }), nextDoor),
      failure('failed', /^535 /),
    )
    await assert.rejects(smtp.verify(at({ port: 1 }), nextDoor), failure('transient', /ECONNREFUSED/))
    await assert.rejects(smtp.verify(at({ port: 25 }), outside), failure('failed', /^host: private, loopback/))
    assert.equal(server.mails.length, mails)
  })

  it('gives no text to the server if the mail may not go any more when its turn comes', async () => {
    const to = 'confirmed@example.com'
    const asked: boolean[] = []
    const confirm = async () => {
      asked.push(server.asked.includes(to))
      if (asked.length === 1) throw new Error('unsubscribed')
    }
    const send = async () => smtp.send(at(), await payloadTo(to), nextDoor, { confirm })
    await assert.rejects(send(), {
      kind: 'transient',
      isHeldBack: true,
      mayHaveArrived: false,
      message: 'unsubscribed',
    })
    await send()
    assert.deepEqual(asked, [true, true], 'once the server knows its recipient')
    assert.equal(server.mails.filter(mail => mail.to === to).length, 1)
  })

  it('ends at a signal unless the server has the text', async () => {
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const under: Record<string, 'RCPT' | 'DATA'> = {}
    const hang = (to: string, stage: 'RCPT' | 'DATA') => {
      under[to] = stage
      if (under['early@example.com'] === 'RCPT' && under['late@example.com'] === 'DATA') reached.resolve()
      return opened.promise.then(() => undefined)
    }
    server.refuse = (to, stage) => (to.startsWith('late') && stage === 'RCPT' ? undefined : hang(to, stage))
    const stopping = new AbortController()
    const { signal } = stopping
    const send = async (to: string) => smtp.send(at(), await payloadTo(to), nextDoor, { signal })
    const late = send('late@example.com')
    const early = send('early@example.com')
    early.catch(() => {})
    await within(scaledTimeout(20_000), 'both under way', () => reached.promise)
    stopping.abort(new Error('the service stops'))
    const isHeldBack = { kind: 'transient', isHeldBack: true, message: 'the service stops' }
    await assert.rejects(early, isHeldBack)
    await assert.rejects(send('never@example.com'), isHeldBack)
    opened.resolve()
    assert.match(await late, /^250 /)
    assert.ok(!server.mails.some(({ to }) => to === 'early@example.com'))
    assert.ok(!server.asked.includes('never@example.com'))
  })

  it('has all its time once it has a connection', async () => {
    const smtp = createSmtpConnections({ maxMs: scaledTimeout(1000) })
    const hanging = Promise.withResolvers<undefined>()
    server.refuse = to => (to.startsWith('hangs') ? hanging.promise : undefined)
    const [hangs, waits] = await Promise.all([payloadTo('hangs@example.com'), payloadTo('waits@example.com')])
    const all = Array.from({ length: CONNECTIONS_EACH }, () => smtp.send(at(), hangs, nextDoor))
    const settled = Promise.allSettled(all)
    try {
      assert.match(await smtp.send(at(), waits, nextDoor), /^250 /)
      assert.ok((await settled).every(({ status }) => status === 'rejected'))
    } finally {
      hanging.resolve(undefined)
      smtp.close()
    }
  })

  it('goes to the server that a URL names', () => {
    assert.deepEqual(smtpServerOf('smtp://user%40x:p%3Aw@mail.example.com'), {
      host: 'mail.example.com',
      port: 587,
      secure: false,
      auth: { user: 'user@x', pass: 'p:w' },
    })
    assert.deepEqual(smtpServerOf('smtps://[::1]'), { host: '[::1]', port: 465, secure: true })
  })
})

/** Starts a server whose reply to a command, or to the text, never ends: it has another line again and again. */
async function startTricklingServer(endless: 'EHLO' | 'text') {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    let trickling: NodeJS.Timeout | undefined
    let isText = false
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      clearInterval(trickling)
    })
    socket.on('data', data => {
      const part = data.toString()
      if (isText && !part.endsWith('.\r\n')) return
      const isEndless = isText ? endless === 'text' : part.startsWith(endless)
      isText = part.startsWith('DATA')
      if (isEndless) trickling = setInterval(() => socket.write('250-wait\r\n'), 20)
      else socket.write(isText ? '354 go on\r\n' : '250 ok\r\n')
    })
    socket.write('220 trickling\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    at: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, secure: false },
    sockets,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a mail server whose reply never ends', () => {
  const policy = { allowPrivate: true }
  const LIMIT_MS = 10_000
  const cases: [endless: 'EHLO' | 'text', what: string, maxMs: number, details: object][] = [
    ['EHLO', 'before it has the text', 200, { mayHaveArrived: false, isUnreachable: true }],
    ['text', 'once it has the text', scaledTimeout(1000), { mayHaveArrived: true, isUnreachable: false }],
  ]
  for (const [endless, what, maxMs, details] of cases) {
    it(`${what}, fails a mail temporarily, and loses its connection`, async () => {
      const server = await startTricklingServer(endless)
      const smtp = createSmtpConnections({ maxMs })
      try {
        const send = async () => smtp.send(server.at, await payloadTo('x@example.com'), policy)
        const sending = within(scaledTimeout(LIMIT_MS), 'the attempt', send)
        await assert.rejects(sending, { name: 'DeliveryError', kind: 'transient', ...details })
        await eventually('it has no connection', () => server.sockets.size === 0)
      } finally {
        server.stop()
      }
    })
  }

  it('fails the check of settings, and loses its connection', async () => {
    const server = await startTricklingServer('EHLO')
    const smtp = createSmtpConnections({ maxMs: 200 })
    try {
      const checking = within(scaledTimeout(LIMIT_MS), 'the check', () => smtp.verify(server.at, policy))
      await assert.rejects(checking, { name: 'DeliveryError', kind: 'transient' })
      await eventually('it has no connection', () => server.sockets.size === 0)
    } finally {
      server.stop()
    }
  })
})

describe('delivery to the exchangers of a domain', () => {
  const smtp = createSmtpConnections()
  let dns: TestDns
  let first: MailServer
  let second: MailServer
  let context: Parameters<typeof sendToExchangers>[0]

  before(async () => {
    dns = await startTestDns()
    first = await startMailServer()
    second = await startMailServer({ host: '127.0.0.2', port: first.port })
    const lookups = createResolver({ servers: [dns.resolver], only: true })
    context = { lookups, smtp, addressPolicy: { allowPrivate: true } }
    const mx = (exchange: string, preference: number) => ({ exchange, preference })
    dns.zone(
      'example.com',
      ['127.0.0.1'],
      [
        { name: 'both.example.com', type: 'MX', data: mx('two.example.com', 20) },
        { name: 'both.example.com', type: 'MX', data: mx('one.example.com', 10) },
        { name: 'away.example.com', type: 'MX', data: mx('nowhere.example.com', 10) },
        { name: 'away.example.com', type: 'MX', data: mx('two.example.com', 20) },
        { name: 'none.example.com', type: 'MX', data: mx('.', 0) },
        { name: 'text.example.com', type: 'TXT', data: 'no address' },
        { name: 'inside.example.com', type: 'MX', data: mx('private.example.com', 10) },
        { name: 'private.example.com', type: 'A', data: '10.0.0.1' },
        { name: 'later.example.com', type: 'MX', data: mx('one.example.com', 10) },
        { name: 'later.example.com', type: 'MX', data: mx('text.example.com', 20) },
        ...[1, 2, 3, 4, 5].map(index => ({
          name: 'slow.example.com',
          type: 'MX' as const,
          data: mx(`slow-${index}.example.com`, index),
        })),
        { name: 'one.example.com', type: 'A', data: '127.0.0.1' },
        { name: 'two.example.com', type: 'A', data: '127.0.0.2' },
      ],
    )
  })
  after(async () => {
    smtp.close()
    await Promise.all([first.stop(), second.stop(), dns.stop()])
  })

  const send = async (to: string) => sendToExchangers(context, await payloadTo(to), { port: first.port })

  it('prefers the lowest number, and uses the next if that one is down or busy', async () => {
    await send('1@both.example.com')
    await first.mailTo('1@both.example.com')
    await send('2@away.example.com')
    await second.mailTo('2@away.example.com')
    first.refuse = () => ({ code: 451, message: 'Busy' })
    await send('3@both.example.com')
    await second.mailTo('3@both.example.com')
    first.refuse = () => undefined
  })

  it('ends if one of them rejects permanently', async () => {
    first.refuse = () => ({ code: 550, message: 'No such user' })
    await assert.rejects(send('4@both.example.com'), failure('bounced', /^550 No such user$/))
    first.refuse = () => undefined
    assert.ok(!second.asked.includes('4@both.example.com'))
  })

  it('goes to the domain itself if it has none', async () => {
    await send('5@one.example.com')
    await first.mailTo('5@one.example.com')
  })

  it('bounces if the domain accepts no mail or does not exist', async () => {
    await assert.rejects(send('x@none.example.com'), failure('bounced', /accepts no mail/))
    await assert.rejects(send('x@unknown.example.com'), failure('bounced', /does not exist/))
  })

  it('fails for this mail alone if the domain names no server that may be used', async () => {
    const isAboutMail = { kind: 'failed', isAboutMail: true }
    await assert.rejects(send('x@text.example.com'), { ...isAboutMail, message: 'host: the name has no address' })
    const strict = { ...context, addressPolicy: { allowPrivate: false } }
    await assert.rejects(sendToExchangers(strict, await payloadTo('x@inside.example.com')), isAboutMail)
    first.refuse = () => ({ code: 451, message: 'Busy' })
    await assert.rejects(send('x@later.example.com'), failure('transient', /^451 Busy$/))
    first.refuse = () => undefined
  })

  it('asks the next one, and later again, if one of them does not talk to us', async () => {
    first.closed = { code: 554, message: 'Your address is listed' }
    first.disconnect() // connections of former mails
    try {
      await send('8@both.example.com')
      await second.mailTo('8@both.example.com')
      await assert.rejects(send('8@one.example.com'), { kind: 'transient', isUnreachable: true, message: /is listed$/ })
    } finally {
      first.closed = undefined
    }
  })

  it('asks no other server if the first one may have accepted the mail', async () => {
    const to = '7@both.example.com'
    first.refuse = (_to, stage) => void (stage === 'DATA' && first.disconnect())
    await assert.rejects(send(to), { kind: 'transient', mayHaveArrived: true })
    first.refuse = () => undefined
    assert.ok(!second.asked.includes(to))
  })

  it('asks no other one if the mail may not go any more', async () => {
    const to = '9@both.example.com'
    const confirm = async () => Promise.reject(new Error('unsubscribed'))
    const sending = sendToExchangers(context, await payloadTo(to), { port: first.port, confirm })
    await assert.rejects(sending, { isHeldBack: true })
    assert.ok(!second.asked.includes(to))
  })

  it('asks no further one after two minutes', async t => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    let asked = 0
    const send = async () => {
      asked++
      t.mock.timers.tick(70_000)
      throw new DeliveryError('transient', 'no reply')
    }
    const slow = { ...context, smtp: { ...smtp, send } }
    await assert.rejects(
      sendToExchangers(slow, await payloadTo('x@slow.example.com')),
      failure('transient', /no reply/),
    )
    assert.equal(asked, 2)
  })

  it('does not follow a domain’s records into our own network', async () => {
    const strict = { ...context, addressPolicy: { allowPrivate: false } }
    const sending = sendToExchangers(strict, await payloadTo('6@both.example.com'))
    await assert.rejects(sending, failure('failed', /^host: private/))
    assert.ok(![...first.asked, ...second.asked].includes('6@both.example.com'))
  })
})
