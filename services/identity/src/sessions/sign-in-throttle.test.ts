import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'
import { createContext } from '../context.ts'
import { service } from '../service.ts'
import { afterFailure } from './sign-in-throttle.ts'

const wrong = { code: 'sign_in.wrong_password', status: 401, message: 'Wrong email or password.' }
const MINUTE_MS = 60_000

describe('what is remembered of failures', () => {
  it('locks at the tenth within 15 minutes, then for twice as long each time, up to an hour', () => {
    let now = Date.now()
    let limit = afterFailure(null, new Date(now))!
    for (let failure = 2; failure <= 10; failure++) {
      assert.equal(limit.lockedUntil, null)
      limit = afterFailure(limit, new Date(now))!
    }
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      assert.equal(limit.lockedUntil!.getTime() - now, minutes * MINUTE_MS)
      now = limit.lockedUntil!.getTime()
      assert.equal(afterFailure(limit, new Date(now - 1)), undefined)
      assert.equal(limit.expiresAt.getTime() - now, (24 * 60 - minutes) * MINUTE_MS)
      limit = afterFailure(limit, new Date(now))!
    }
  })

  it('is forgotten 15 minutes after the first, where it locked nothing', () => {
    const now = Date.now()
    const first = afterFailure(null, new Date(now))!
    const second = afterFailure(first, new Date(now + MINUTE_MS))!
    assert.equal(second.expiresAt.getTime() - now, 15 * MINUTE_MS)
  })
})

describe('the throttle of sign-in', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const login = (email: string, tried = PASSWORD) => harness.public.authentication.login({ email, password: tried })
  const fail = async (email: string, times: number) => {
    for (let time = 0; time < times; time++) await assert.rejects(login(email, 'wrong password'), wrong)
  }
  const limits = () => harness.db.collection<{ _id: string }>('sign_in_limits')
  const limitOf = ({ userId }: Person) => limits().findOne({ _id: userId })
  const editLimit = ({ userId }: Person, set: object) => limits().updateOne({ _id: userId }, { $set: set })
  const failuresOf = async ({ userId }: Person): Promise<Json[]> => {
    const about = { 'event.subject': userId, 'event.type': 'session.failed' }
    const entries = await harness.db.collection('outbox').find(about).sort({ at: 1, _id: 1 }).toArray()
    return entries.map(({ event }) => event)
  }
  const untilPublished = async (person: Person, expected: number) => {
    for (const deadline = Date.now() + 5_000; (await failuresOf(person)).length < expected; await sleep(5))
      assert.ok(Date.now() < deadline, 'no event')
    return failuresOf(person)
  }

  it('lets one more try through when the lock ends, and locks for longer after it', async () => {
    const person = await harness.register()
    await fail(person.email, 10)
    await assert.rejects(login(person.email), wrong)
    await editLimit(person, { lockedUntil: new Date(Date.now() - 1) })
    await fail(person.email, 1)
    const { lockedUntil } = (await limitOf(person)) as unknown as { lockedUntil: Date }
    assert.ok(lockedUntil.getTime() - Date.now() > 1.5 * MINUTE_MS, String(lockedUntil))
    await editLimit(person, { lockedUntil: new Date(Date.now() - 1) })
    await login(person.email)
    assert.equal(await limitOf(person), null)
  })

  it('counts on every replica what failed on another', async () => {
    const lifecycle = createLifecycle({
      service: 'identity',
      logger: createLogger({ service: 'test', level: 'fatal' }),
    })
    const replica = await createContext(await service.open(harness.config, lifecycle))
    const person = await harness.register()
    await fail(person.email, 9)
    assert.equal(await replica.signInThrottle.count(person.userId), true)
    await assert.rejects(login(person.email), wrong)
    await replica.signInThrottle.reset([person.userId])
    await login(person.email)
    await lifecycle.stop('test over')
  })

  it('counts no try that could not be looked at', async () => {
    const lifecycle = createLifecycle({
      service: 'identity',
      logger: createLogger({ service: 'test', level: 'fatal' }),
    })
    const { signInThrottle } = await createContext(await service.open(harness.config, lifecycle))
    const key = unique('account')
    const broken = async () => Promise.reject(new Error('too many wait'))
    for (let time = 0; time < 20; time++) await assert.rejects(signInThrottle.look(key, broken), /too many wait/)
    assert.equal(await signInThrottle.look(key, async () => true), 'right')
    await lifecycle.stop('test over')
  })

  it('keeps no address, and forgets', async () => {
    const email = `${unique('nobody')}@example.com`
    await fail(email, 1)
    const stored = await limits().find().toArray()
    assert.ok(stored.length > 0 && !JSON.stringify(stored).includes(email))
    const indexes = await limits().indexes()
    assert.ok(indexes.some(({ key, expireAfterSeconds }) => key.expiresAt === 1 && expireAfterSeconds === 0))
  })

  it('publishes each failure with its reason, and none while the account is locked', async () => {
    const person = await harness.register()
    await fail(person.email, 12)
    const events = await untilPublished(person, 10)
    assert.equal(events.length, 10)
    const { organization, data } = events[0] as { organization: Json; data: Json }
    const { at, ip, userAgent, actor, ...rest } = data
    assert.equal(organization, person.organizationId)
    assert.deepEqual(rest, { userId: person.userId, reason: 'password' })
    assert.ok(Date.parse(String(at)) <= Date.now())
    assert.deepEqual([ip, userAgent, actor!.kind, actor!.id], ['', '', 'system', null])
  })

  it('publishes a wrong code, and the right password of a blocked account', async () => {
    const person = await harness.register()
    await harness.db.collection('users').updateOne({ emailKey: person.email }, { $set: { blocked: true } })
    await assert.rejects(harness.public.authentication.verifyOtp({ email: person.email, code: '000000' }))
    await untilPublished(person, 1)
    await assert.rejects(login(person.email), { status: 403 })
    const reasons = (await untilPublished(person, 2)).map(({ data }) => data!.reason)
    assert.deepEqual(reasons, ['code', 'blocked'])
  })

  it('publishes nothing for an unknown account', async () => {
    const nobody = `${unique('nobody')}@example.com`
    const failures = () => harness.db.collection('outbox').countDocuments({ 'event.type': 'session.failed' })
    const [person, before] = [await harness.register(), await failures()]
    await fail(nobody, 2)
    await fail(person.email, 1)
    await untilPublished(person, 1)
    assert.equal(await failures(), before + 1)
  })
})
