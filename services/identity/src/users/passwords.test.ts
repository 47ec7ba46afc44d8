import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { createPasswordQueue, type PasswordQueue } from './password-queue.ts'
import { createPasswords, type Passwords } from './passwords.ts'

describe('passwords', () => {
  let passwords: Passwords
  before(async () => {
    passwords = await createPasswords({ parallelism: 2, maxWaiting: 3, maxWaitingPerSetter: 2 })
  })

  it('fit the hash made of them, and no other does', async () => {
    const passwordHash = await passwords.hash('correct horse', {})
    assert.match(passwordHash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(await passwords.fits('correct horse', passwordHash), true)
    assert.equal(await passwords.fits('correct horsE', passwordHash), false)
    assert.notEqual(await passwords.hash('correct horse', {}), passwordHash)
  })

  it('are the same however accents are composed', async () => {
    assert.equal(await passwords.fits('e\u0301te\u0301', await passwords.hash('\u00e9t\u00e9', {})), true)
  })

  it('never fit where there is no hash', async () => {
    assert.equal(await passwords.fits('nobody', undefined), false)
  })

  it('are refused rather than queued without end', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => passwords.fits('x', undefined)))
    const refused = attempts.filter(attempt => attempt.status === 'rejected')
    assert.equal(refused.length, 3)
    assert.ok(refused.every(({ reason }) => reason.code === 'service.unavailable'))
    assert.equal(await passwords.fits('x', undefined), false)
  })

  it('that attackers try first are not set, in whatever case or form', async () => {
    for (const password of [
      'password1',
      'PASSWORD123',
      'Qwertyuiop',
      '\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18',
    ])
      await assert.rejects(passwords.hash(password, {}), { code: 'password.too_common', path: 'password' })
  })

  it('are outdated where they were hashed with less', async () => {
    const current = await passwords.hash('correct horse', {})
    assert.equal(passwords.isOutdated(current), false)
    assert.equal(passwords.isOutdated(current.replace('m=19456', 'm=65536')), false)
    assert.equal(passwords.isOutdated(current.replace('m=19456', 'm=12288')), true)
    assert.equal(passwords.isOutdated(current.replace('t=2', 't=1')), true)
    assert.equal(passwords.isOutdated('unknown'), true)
  })

  it('can be pretended to be checked, for as long as checks take, without computing anything', async () => {
    const waitMs = 40
    let checks = 0
    const slowQueue: PasswordQueue = {
      async signIn(task) {
        checks++
        await pause(waitMs)
        return task()
      },
      set: task => task(),
    }
    const slow = await createPasswords({ parallelism: 2, maxWaiting: 3, maxWaitingPerSetter: 2 }, slowQueue)
    for (let round = 0; round < 10; round++) await slow.fits('x', undefined)
    const startedAt = performance.now()
    await slow.pretend()
    assert.ok(performance.now() - startedAt > waitMs / 2)
    assert.equal(checks, 10)
  })

  it('leave the event loop free', async () => {
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    await passwords.hash('correct horse', {})
    clearInterval(timer)
    assert.ok(ticks > 1, `${ticks} ticks`)
  })
})

describe('the queue of passwords', () => {
  const limits = { parallelism: 1, maxWaiting: 10, maxWaitingPerSetter: 2 }

  /** A queue whose tasks record their names. The first one is blocked until `release`. */
  async function startQueue() {
    const queue = createPasswordQueue(limits)
    const done: string[] = []
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const running = queue.signIn(() => held)
    return {
      signIn: (name: string) => queue.signIn(async () => done.push(name)),
      set: (name: string, ...setters: string[]) => queue.set(async () => done.push(name), setters),
      async finish(tasks: Promise<unknown>[]) {
        release()
        await Promise.all([running, ...tasks])
        return done
      },
    }
  }

  it('runs sign-ins first, and a new password as every fourth task', async () => {
    const { signIn, set, finish } = await startQueue()
    const tasks = [set('s1'), set('s2'), ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(signIn)]
    assert.deepEqual(await finish(tasks), ['a', 'b', 'c', 's1', 'd', 'e', 'f', 's2', 'g'])
  })

  it('lets two of a setter wait, by each of its names, and others besides', async () => {
    const { set, finish } = await startQueue()
    const tasks = [set('1', 'organization', 'home'), set('2', 'organization', 'office')]
    const refusal = { code: 'quota.too_many_pending', status: 429, message: 'limit reached: 2 passwords waiting' }
    await assert.rejects(set('3', 'organization', 'elsewhere'), refusal)
    tasks.push(set('4', 'other', 'home'))
    await assert.rejects(set('5', 'third', 'home'), refusal)
    assert.deepEqual(await finish([...tasks, set('6', 'third')]), ['1', '2', '4', '6'])
    await set('7', 'organization', 'home')
  })
})
