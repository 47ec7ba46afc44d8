import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, currentOrigin, type Event, type Origin } from '@rollcall/runtime'
import { fromMessage, toMessage, UnprocessableEvent } from './kafka/message.ts'
import { consumptionOf, type Digest, type Inbox } from './subscription.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
const actor = { kind: 'user', id: '1', name: 'User One' }

const origin: Origin = {
  actor: { kind: 'token', id: '3', name: 'Tökén' },
  credential: { kind: 'token', id: '3' },
  ip: '2001:db8::1',
  requestId: 'request-1',
}

const eventOf = (changes: Partial<Event> = {}): Event => ({
  id: 'event-1',
  type: 'user.blocked',
  source: 'identity',
  subject: '1',
  organization: '2',
  time: '2026-01-01T00:00:00.000Z',
  data: { userId: '1', actor },
  ...changes,
})

/** A subscription whose inbox and handlers record their arguments. */
function subscribed(inboxName?: string) {
  const seen: unknown[] = []
  const inbox: Inbox<string> = {
    consumeOnce: async (consumer, events, effect) => {
      seen.push(...events.map(({ id }) => `${consumer}:${id}`))
      await effect('transaction', events)
    },
  }
  const note = async (data: object, { tx }: { tx: string }) => void seen.push(tx, data)
  const on = { 'user.blocked': note, 'user.deleted': note, 'contact.deleted': note }
  const ignores = ({ subject }: Event) => subject === 'of no effect'
  const names = { name: 'test.on-events', ...(inboxName && { inboxName }) }
  const { handle, ...rest } = consumptionOf({ ...names, ignores, on }, inbox)
  const context = { attempt: 1, signal: new AbortController().signal, logger }
  return { seen, handle: (event: Event) => handle(event, context), ...rest }
}

describe('a subscription', () => {
  it('consumes the topics of the types it handles, as the group of its name', () => {
    const { group, topics } = subscribed()
    assert.deepEqual([group, topics], ['test.on-events', ['identity.events', 'audience.events']])
  })

  it('passes data and transaction to the handler of the type, through the inbox', async () => {
    const { seen, handle } = subscribed()
    await handle(eventOf())
    assert.deepEqual(seen, ['test.on-events:event-1', 'transaction', { userId: '1', actor }])
  })

  it('uses its own name for the inbox', async () => {
    const { seen, handle } = subscribed('on-events')
    await handle(eventOf())
    assert.equal(seen[0], 'on-events:event-1')
  })

  it('acknowledges other events without an inbox entry', async () => {
    const { seen, handle } = subscribed()
    await handle(eventOf({ type: 'user.unblocked', data: {} }))
    await handle(eventOf({ type: 'toString' }))
    await handle(eventOf({ subject: 'of no effect' }))
    assert.deepEqual(seen, [])
  })

  it('rejects data that is not as declared, before the inbox records it', async () => {
    const { seen, handle } = subscribed()
    const refused = (changes: Partial<Event>, message: RegExp) =>
      assert.rejects(handle(eventOf(changes)), error => {
        assert.ok(error instanceof UnprocessableEvent)
        assert.match(error.message, message)
        return true
      })
    await refused({ data: { actor } }, /^user.blocked is not as declared: missing field -> userId$/)
    await refused({ data: { userId: 7, actor } }, /userId: must be a string$/)
    await refused({ source: 'audience' }, /^audience does not publish user.blocked$/)
    assert.deepEqual(seen, [])
  })

  it('accepts fields that a later version has added', async () => {
    const { seen, handle } = subscribed()
    await handle(eventOf({ data: { userId: '1', actor, reason: 'spam' } }))
    assert.equal(seen.length, 3)
  })

  it('applies effects on behalf of the request that caused the event', async () => {
    const origins: unknown[] = []
    const inbox: Inbox<string> = { consumeOnce: (_consumer, events, effect) => effect('transaction', events) }
    const on = { 'user.blocked': async () => void origins.push(currentOrigin()) }
    const { handle } = consumptionOf({ name: 'test.on-events', on }, inbox)
    const context = { attempt: 1, signal: new AbortController().signal, logger }
    await handle(eventOf({ origin }), context)
    await handle(eventOf(), context)
    assert.deepEqual(origins, [origin, undefined])
  })
})

describe('a digest', () => {
  const types = ['user.blocked', 'user.unblocked'] as const

  it('applies events together that have the same organization and cause, in their order', async () => {
    const applied: unknown[] = []
    const inbox: Inbox<string> = { consumeOnce: (_consumer, events, effect) => effect('transaction', events) }
    const apply: Digest<string>['apply'] = async (events, { organization }) =>
      void applied.push([organization, currentOrigin()?.requestId, ...events.map(({ id }) => id)])
    const { topics, together } = consumptionOf({ name: 'test.digest', types, apply }, inbox)
    const events = [
      eventOf({ id: '1' }),
      eventOf({ id: '2', organization: '3' }),
      eventOf({ id: '3', type: 'user.deleted' }),
      eventOf({ id: '4', origin }),
      eventOf({ id: '5', type: 'user.unblocked' }),
    ]
    await together?.handle(events, { logger })
    assert.deepEqual(topics, ['identity.events'])
    assert.deepEqual(applied, [
      ['2', undefined, '1', '5'],
      ['3', undefined, '2'],
      ['2', 'request-1', '4'],
    ])
  })
})

describe('a feed', () => {
  it('gets every event of every topic, also of types that this version does not know', async () => {
    const seen: string[] = []
    const inbox: Inbox<string> = { consumeOnce: () => assert.fail('a feed has no inbox') }
    const feed = {
      name: 'test.feed',
      every: async (events: readonly Event[]) => void seen.push(...events.map(({ type }) => type)),
    }
    const { group, topics, handle, together } = consumptionOf(feed, inbox)
    const context = { attempt: 1, signal: new AbortController().signal, logger }
    await handle(eventOf(), context)
    await handle(eventOf({ type: 'user.of_the_future', data: {} }), context)
    await together?.handle([eventOf(), eventOf({ type: 'user.deleted' })], { logger })
    assert.deepEqual(
      [group, seen],
      ['test.feed', ['user.blocked', 'user.of_the_future', 'user.blocked', 'user.deleted']],
    )
    for (const topic of ['identity.events', 'audience.events', 'import.events', 'messaging.events'] as const)
      assert.ok(topics.includes(topic), topic)
  })
})

describe('the origin of an event', () => {
  const read = (event: Event) => {
    const { value, headers = {} } = toMessage(event)
    return fromMessage({ value: Buffer.from(String(value)), headers }).origin
  }

  it('arrives as it was published', () => {
    const alone = {
      actor: { kind: 'system', id: null, name: 'messaging' },
      credential: null,
      ip: null,
      requestId: null,
    }
    for (const each of [origin, alone as Origin]) assert.deepEqual(read(eventOf({ origin: each })), each)
    assert.equal(read(eventOf()), undefined)
  })
})
