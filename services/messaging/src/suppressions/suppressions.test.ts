import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSecretHashers, parseHashKeys } from '@rollcall/credentials'
import { isDuplicate } from '@rollcall/store'
import { type TestContext, testContext } from '../../test/context.ts'
import { holdHandOvers } from '../mail/hand-over.ts'
import { adoptBouncedAddresses } from './adopt-bounced-addresses.ts'
import { onContactConfirmed } from './on-contact-confirmed.ts'
import { eraseSuppressions, suppress, suppressionsOf } from './suppress.ts'
import type { SuppressionKind } from './suppression.model.ts'
import { suppressions } from './suppressions.ts'

type Shown = { id: string; email: string; kind: string; reason: string; message: string | null; count: number }

describe('suppressions', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test.stop())

  const handlers = () => suppressions(test.context)
  const tenant = () => test.context.collections.of(test.organizationId)
  const create = async (email: string, reason?: string): Promise<Shown> => {
    const request = { email, ...(reason !== undefined && { reason }) }
    return JSON.parse(String((await handlers().createSuppression(request, test.call())).data))
  }
  const record = (email: string, kind: SuppressionKind, reason: string, message = 'a1') =>
    test.context.store.transaction(tx =>
      suppress(test.context, test.organizationId, { email, kind, reason, message, at: new Date() }, tx),
    )
  const found = async (email: string) =>
    [...(await suppressionsOf(test.context, test.organizationId, [email])).values()][0]

  it('are created once per address, regardless of case', async () => {
    const { id, kind, reason, message, count } = await create('One@Example.com', 'asked by phone')
    assert.deepEqual([kind, reason, message, count], ['manual', 'asked by phone', null, 1])
    await assert.rejects(create('one@example.COM'), { code: 'record.duplicate', details: { path: 'email' } })
    assert.deepEqual(
      (await test.eventsOf(id)).map(({ type }) => type),
      ['suppression.created'],
    )
  })

  it('are lifted, and can be made again', async () => {
    const { id } = await create('lifted@example.com')
    const shown = JSON.parse(String((await handlers().deleteSuppression({ id }, test.call())).data))
    assert.equal(shown.email, 'lifted@example.com')
    await assert.rejects(handlers().deleteSuppression({ id }, test.call()), { code: 'suppression.not_found' })
    await assert.rejects(handlers().getSuppression({ id }, test.call()), { code: 'suppression.not_found' })
    const last = (await test.eventsOf(id)).at(-1)
    assert.deepEqual(
      [last?.type, (last?.data.suppression as Shown | undefined)?.email],
      ['suppression.deleted', 'lifted@example.com'],
    )
    await create('lifted@example.com')
  })

  it('belong to one organization', async () => {
    const { id } = await create('mine@example.com')
    const other = 'f'.repeat(24)
    assert.equal((await suppressionsOf(test.context, other, ['mine@example.com'])).size, 0)
    await assert.rejects(test.context.collections.of(other).suppressions.get(id, 'suppression'), {
      code: 'suppression.not_found',
    })
  })

  it('keep the heaviest reason and count every one', async () => {
    await record('counted@example.com', 'complaint', 'spam')
    await record('Counted@example.com', 'hard_bounce', '550 no such user', 'a2')
    await record('counted@example.com', 'complaint', 'spam again', 'a3')
    const { kind, reason, message, count, firstAt, lastAt, _id } = (await found('counted@example.com'))!
    assert.deepEqual([kind, reason, message, count], ['hard_bounce', '550 no such user', 'a2', 3])
    assert.ok(firstAt <= lastAt)
    assert.equal((await test.eventsOf(String(_id))).length, 1)
  })

  it('are one record if two arise at once', async () => {
    const twice = await Promise.allSettled([1, 2].map(() => record('at.once@example.com', 'complaint', 'spam')))
    for (const result of twice) assert.ok(result.status === 'fulfilled' || isDuplicate(result.reason))
    assert.ok(await found('at.once@example.com'))
  })

  it('take over the addresses that bounced under earlier versions', async () => {
    await tenant().bouncedAddresses.insertMany([
      { emailKey: 'old@example.com', error: '550 gone' },
      { emailKey: 'one@example.com', error: '550 gone' },
    ])
    for (let times = 0; times < 2; times++) await adoptBouncedAddresses(test.context.collections)
    const { email, kind, reason, count, firstAt } = (await found('old@example.com'))!
    assert.deepEqual([email, kind, reason, count], ['old@example.com', 'hard_bounce', '550 gone', 1])
    assert.ok(firstAt instanceof Date)
    assert.equal((await found('one@example.com'))?.kind, 'manual')
    assert.equal(await tenant().bouncedAddresses.count(), 0)
  })

  describe('of an erased person', () => {
    const stored = (id: string) => tenant().suppressions.get(id, 'suppression')
    const erase = async (email: string) => {
      const { _id } = (await found(email))!
      assert.equal(await eraseSuppressions(test.context, test.organizationId, [email]), 1)
      assert.equal(await eraseSuppressions(test.context, test.organizationId, [email]), 0)
      return String(_id)
    }

    it('stay, without the address or what names it', async () => {
      await record('erased@example.com', 'hard_bounce', '550 <erased@example.com>: no such user')
      const id = await erase('erased@example.com')
      assert.doesNotMatch(JSON.stringify(await stored(id)), /erased@/)
      assert.equal((await found('Erased@Example.com'))?.kind, 'hard_bounce')
      await record('erased@example.com', 'hard_bounce', '550 <erased@example.com>: no such user')
      assert.doesNotMatch(JSON.stringify(await stored(id)), /erased@/)
      assert.equal((await stored(id)).count, 2)
    })

    it('are hashed with a key that is not in the database', async () => {
      await create('hashed@example.com')
      const { emailKey } = await stored(await erase('hashed@example.com'))
      const keys = createSecretHashers(parseHashKeys(`test:${'b'.repeat(43)}`))['erased-address']
      assert.notEqual(emailKey, keys.hash('hashed@example.com'))
    })

    it('can be named again, and lifted', async () => {
      await record('named@example.com', 'complaint', 'spam')
      await erase('named@example.com')
      const { id, email, kind } = await create('named@example.com')
      assert.deepEqual([email, kind], ['named@example.com', 'complaint'])
      await handlers().deleteSuppression({ id }, test.call())
      assert.equal(await found('named@example.com'), undefined)
    })
  })

  it('for a complaint stay if a confirmation came before it', async () => {
    const confirm = (at: number) => {
      const data = { email: 'Complained@example.com', at: new Date(at).toISOString() } as never
      const handle = onContactConfirmed(test.context).on['contact.confirmed']!
      const event = { organization: test.organizationId }
      return test.context.store.transaction(tx => handle(data, { event, tx } as never))
    }
    await record('complained@example.com', 'complaint', 'abuse')
    await confirm(Date.now() - 60_000)
    assert.ok(await found('complained@example.com'))
    await eraseSuppressions(test.context, test.organizationId, ['complained@example.com'])
    await confirm(Date.now() + 1000)
    assert.equal(await found('complained@example.com'), undefined)
  })

  it('for a complaint let mails pass that ask for a confirmation, others none', async () => {
    for (const kind of ['complaint', 'hard_bounce', 'manual'] as const) {
      const to = `${kind}@example.net`
      await record(to, kind, 'test')
      const mails = [true, false].map(confirms => ({ contact: null, to, confirms }))
      const options = { isCampaign: false, ms: 1000 }
      const { handOvers, release } = await holdHandOvers(test.context, test.organizationId, mails, options)
      await release()
      assert.deepEqual(
        handOvers.map(({ refusal }) => refusal?.reason),
        [kind === 'complaint' ? undefined : 'address', 'address'],
      )
    }
  })
})
