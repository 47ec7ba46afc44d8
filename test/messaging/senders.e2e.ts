import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { type Answer, type Api, bodyOf, makeToken, signIn } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'
import { verifiedDomain } from './verified-domain.ts'

type Sender = {
  id: string
  email: string
  isDefault: boolean
  owner: string | null
  creator: string
  sharedWith: string[]
  smtp: object | null
}
type Page<T> = { docs: T[]; totalDocs: number }
type Person = { id: string; email: string; api: Api; token: Api }
type Refusal = { error?: true; success?: false; message: string; path?: string }

const path = '/api/emails/senders'
const smtp = { host: '192.0.2.1', port: 587 }
const unknownId = 'f'.repeat(24)

let stack: TestStack
let count = 0
const people = {} as Record<'maker' | 'holder' | 'friend' | 'stranger' | 'admin' | 'boss', Person>

/** Uses another address, so that the limits of one address do not apply. */
const spread = (api: Api): Api => api.with({ 'x-forwarded-for': `198.51.${(count++ >> 8) % 256}.${count % 256}` })
const newEmail = () => `sender-${count++}@mail.example.com`

/** Creates a sender with a mail account, which needs no domain. */
function create({ api }: Pick<Person, 'api'>, fields: Record<string, unknown> = {}): Promise<Answer<Sender & Refusal>> {
  const sender = { name: 'Sender One', email: newEmail(), delivery: 'oauth', oauth: { provider: 'google' } }
  return spread(api).post(path, { ...sender, ...fields })
}
const createHosted = (fields: Record<string, unknown> = {}) =>
  create(people.maker, { delivery: 'hosted', oauth: undefined, ...fields })
const createSmtp = (server: Record<string, unknown>) => createHosted({ delivery: 'smtp', smtp: server })

async function addPerson(name: string, role: string): Promise<Person> {
  const email = `${name}@rollcall.test`
  const password = 'made for tests only'
  const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/users', { name, email, password, role }), 201)
  const api = await signIn(stack.api, email, password)
  return { id, email, api, token: (await makeToken(api, { role: 'user' })).api }
}

before(async () => {
  stack = await startStack({ settings: { TRUST_PROXY: '1', REGISTRATION: 'open' } })
  await verifiedDomain(stack, 'mail.example.com')
  for (const name of ['maker', 'holder', 'friend', 'stranger', 'admin'] as const) {
    people[name] = await addPerson(name, 'admin')
  }
  const me = await bodyOf(stack.owner.get<{ user: { id: string; email: string } }>('/api/auth/me'))
  people.boss = { ...me.user, api: stack.owner, token: (await makeToken(stack.owner, { role: 'user' })).api }
})
after(() => stack.stop())

describe('who may do what with a sender', () => {
  const actions: Record<string, (api: Api, id: string) => Promise<Answer>> = {
    read: (api, id) => api.get(`${path}/${id}`),
    update: (api, id) => api.patch(`${path}/${id}`, { name: 'Another' }),
    delete: (api, id) => api.delete(`${path}/${id}`),
    'set as default': (api, id) => api.patch(`${path}/${id}/set-default`),
    test: (api, id) => api.post(`${path}/${id}/test`, { to: 'contact@example.com' }),
    connect: (api, id) => api.get(`${path}/oauth/google/start`, { sender: id }),
    transfer: (api, id) => api.patch(`${path}/${id}/transfer`, { userId: people.stranger.id }),
    share: (api, id) => api.patch(`${path}/${id}/share`, { userIds: [people.stranger.id] }),
    unshare: (api, id) => api.patch(`${path}/${id}/unshare`, { userIds: [people.friend.id] }),
    'list shared users': (api, id) => api.get(`${path}/${id}/shared-users`),
  }
  const all = Object.keys(actions)
  const sharing = ['share', 'unshare', 'list shared users']

  /** Each relation: the user, whether the sender was transferred, the allowed actions, and how others are refused. */
  const standings: [name: string, person: keyof typeof people, isGiven: boolean, may: string[], refusal: number][] = [
    ['its owner, who created it', 'maker', false, all, 403],
    ['its owner, who did not create it', 'holder', true, all.filter(action => !sharing.includes(action)), 403],
    ['its creator, who is no longer its owner', 'maker', true, sharing, 404],
    ['a user it is shared with', 'friend', true, ['read'], 403],
    ['a stranger', 'stranger', true, [], 404],
    ['an admin of the organization', 'admin', true, [], 404],
    ['an owner of the organization', 'boss', true, [], 404],
  ]

  for (const [name, who, isGiven, may, refusal] of standings) {
    for (const credential of ['session', 'token'] as const) {
      it(`${name} may ${may.join(', ') || 'do nothing with it'}; by ${credential}`, async () => {
        for (const [action, run] of Object.entries(actions)) {
          const { id } = await bodyOf(create(people.maker), 201)
          await bodyOf(spread(people.maker.api).patch(`${path}/${id}/share`, { userIds: [people.friend.id] }))
          if (isGiven) {
            await bodyOf(spread(people.maker.api).patch(`${path}/${id}/transfer`, { userId: people.holder.id }))
          }
          const { api, token } = people[who]
          const { status, text } = await run(spread(credential === 'token' ? token : api), id)
          const isRefused = status === 403 || status === 404
          // A program cannot consent. A user who may not see the sender gets 404.
          const isAllowed = may.includes(action) && !(action === 'connect' && credential === 'token')
          const expected = may.includes(action) ? 403 : refusal
          if (isAllowed) assert.ok(!isRefused && status < 500, `${action}: ${status} ${text}`)
          else assert.equal(status, expected, `${action}: ${text}`)
        }
      })
    }
  }

  it('only the organization’s owner transfers a sender whose owner is deleted', async () => {
    const leaver = await addPerson('leaver', 'admin')
    const { id } = await bodyOf(create(leaver), 201)
    await bodyOf(leaver.api.patch(`${path}/${id}/share`, { userIds: [people.friend.id] }))
    const before = await bodyOf(people.friend.api.get<Sender>(`${path}/${id}`))
    assert.deepEqual([before.owner, before.creator, before.sharedWith], [leaver.id, leaver.id, [people.friend.id]])
    await bodyOf(stack.owner.delete(`/api/users/${leaver.id}`))
    await eventually(
      'the sender has no owner',
      async () => {
        const { owner } = await bodyOf(spread(people.friend.api).get<Sender>(`${path}/${id}`))
        return owner === null
      },
      { withinMs: 15_000 },
    )
    const to = { userId: people.holder.id }
    assert.equal((await people.admin.api.patch(`${path}/${id}/transfer`, to)).status, 404)
    assert.equal((await people.friend.api.patch(`${path}/${id}/transfer`, to)).status, 403)
    assert.equal((await people.boss.api.delete(`${path}/${id}`)).status, 403)
    await bodyOf(people.boss.token.patch(`${path}/${id}/transfer`, to))
    const given = await bodyOf(people.holder.api.get<Sender>(`${path}/${id}`))
    assert.deepEqual([given.owner, given.creator], [people.holder.id, leaver.id])
  })
})

describe('POST /api/emails/senders', () => {
  it('201: answers the sender, owned and created by the caller, without its secrets', async () => {
    const server = { ...smtp, username: 'user', password: 'the secret' }
    const { status, body, text } = await createSmtp(server)
    assert.equal(status, 201, text)
    assert.deepEqual(
      [body.owner, body.creator, body.isDefault, body.sharedWith],
      [people.maker.id, people.maker.id, false, []],
    )
    assert.deepEqual(body.smtp, { ...smtp, secure: false, username: 'user' })
    assert.ok(!text.includes('the secret') && !text.includes('assword') && !text.includes('oken'))
  })

  it('201: a token’s sender belongs to who made the token', async () => {
    const { api } = await makeToken(people.maker.api)
    const { body } = await create({ api })
    assert.deepEqual([body.owner, body.creator], [people.maker.id, people.maker.id])
  })

  it('201: TLS from the first byte at port 465', async () => {
    const { body } = await createSmtp({ ...smtp, port: 465 })
    assert.deepEqual(body.smtp, { host: smtp.host, port: 465, secure: true, username: null })
  })

  it('201: an oauth sender is pending, and needs no domain', async () => {
    const { body } = await create(people.maker, { email: 'someone@gmail.com' })
    const pending = { provider: 'google', email: null, connectedAt: null, status: 'pending' }
    assert.deepEqual((body as unknown as { oauth: object }).oauth, pending)
  })

  it('400: each field that is missing, extra or wrong', async () => {
    const valid = { name: 'N', email: 'a@mail.example.com', delivery: 'hosted' }
    const cases: [fields: Record<string, unknown>, message: RegExp][] = [
      [{ name: undefined }, /^missing field -> name$/],
      [{ email: undefined }, /^missing field -> email$/],
      [{ delivery: undefined }, /^missing field -> delivery$/],
      [{ name: '' }, /^invalid field -> name/],
      [{ name: 'n'.repeat(101) }, /^invalid field -> name/],
      [{ name: 1 }, /^invalid field -> name/],
      [{ email: 'not an address' }, /^invalid field -> email/],
      [{ replyTo: 'nor this' }, /^invalid field -> replyTo/],
      [{ delivery: 'pigeon' }, /^invalid field -> delivery/],
      [{ isDefault: true }, /^extra field -> isDefault$/],
      [{ delivery: 'smtp' }, /^missing field -> smtp$/],
      [{ delivery: 'oauth' }, /^missing field -> oauth$/],
      [{ smtp }, /^invalid field -> smtp/],
      [{ oauth: { provider: 'google' } }, /^invalid field -> oauth/],
      [{ delivery: 'oauth', oauth: {} }, /^missing field -> oauth.provider$/],
      [{ delivery: 'oauth', oauth: { provider: 'yahoo' } }, /^invalid field -> oauth.provider/],
      [{ delivery: 'smtp', smtp: {} }, /^missing field -> smtp.host$/],
      [{ delivery: 'smtp', smtp: { host: 'h' } }, /^missing field -> smtp.port$/],
      [{ delivery: 'smtp', smtp: { ...smtp, port: '25' } }, /^invalid field -> smtp.port/],
      [{ delivery: 'smtp', smtp: { ...smtp, secure: 'yes' } }, /^invalid field -> smtp.secure/],
      [{ delivery: 'smtp', smtp: { ...smtp, more: 1 } }, /^extra field -> smtp.more$/],
      [{ delivery: 'smtp', smtp: { ...smtp, username: 'u' } }, /^missing field -> smtp.password$/],
      [{ delivery: 'smtp', smtp: { ...smtp, password: 'p' } }, /^missing field -> smtp.username$/],
      [{ email: 'a@other.example.com' }, /^invalid field -> email: the domain other.example.com is not verified$/],
    ]
    for (const [fields, message] of cases) {
      const { status, body } = await spread(people.maker.api).post<Refusal>(path, { ...valid, ...fields })
      assert.equal(status, 400, JSON.stringify(fields))
      assert.match(body.message, message)
      assert.ok(message.source.includes(body.path!), `${body.path} of ${message}`)
    }
  })

  it('400: a mail server that is not in the public internet, or no port of mail', async () => {
    const hosts = ['127.0.0.1', '0x7f.1', '2130706433', '0177.0.0.1', '127.0.0.1.', 'localhost', '::1', '[::1]']
    hosts.push(
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '10.0.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '224.0.0.1',
      'fe80::1',
    )
    for (const host of hosts) {
      const { status, body } = await createSmtp({ ...smtp, host })
      assert.deepEqual([status, body.path], [400, 'smtp.host'], host)
    }
    for (const port of [0, 80, 6379, 27017, 70_000]) {
      const { status, body } = await createSmtp({ ...smtp, host: '1.1.1.1', port })
      assert.deepEqual([status, body.path], [400, 'smtp.port'], String(port))
    }
  })

  it('401: without a credential; 403: without email_senders.create', async () => {
    assert.equal((await stack.api.post(path, {})).status, 401)
    const { status, body } = await people.maker.token.post<Refusal>(path, {})
    assert.deepEqual([status, body.message], [403, 'Permission denied: email_senders.create'])
  })

  it('409: an email that is taken, regardless of case', async () => {
    const { body } = await createHosted()
    const again = await createHosted({ email: body.email.toUpperCase() })
    assert.deepEqual([again.status, again.body], [409, { error: true, message: 'duplicate -> email', path: 'email' }])
  })

  it('409: all but one of many at once', async () => {
    const email = newEmail()
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => create(people.maker, { email })))).map(
      ({ status }) => status,
    )
    assert.deepEqual(statuses.sort(), [201, ...Array(7).fill(409)])
  })
})

describe('GET /api/emails/senders', () => {
  it('200: lists what the caller owns or is shared with, and nothing else', async () => {
    const lister = await addPerson('lister', 'admin')
    assert.equal((await bodyOf(lister.api.get<Page<Sender>>(path))).totalDocs, 0)
    const own = await bodyOf(create(lister), 201)
    const other = await bodyOf(create(people.maker), 201)
    await bodyOf(people.maker.api.patch(`${path}/${other.id}/share`, { userIds: [lister.id] }))
    const page = await bodyOf(lister.token.get<Page<Sender>>(path, { sort: { createdAt: 1 } }))
    assert.deepEqual(
      page.docs.map(({ id }) => id),
      [own.id, other.id],
    )
    const mine = await bodyOf(lister.api.get<Page<Sender>>(path, { filter: { owner: lister.id } }))
    assert.deepEqual(
      mine.docs.map(({ id }) => id),
      [own.id],
    )
    const or = { $or: [{ email: own.email.toUpperCase() }, { isDefault: true }, { owner: people.maker.id }] }
    const found = await bodyOf(lister.api.get<Page<Sender>>(path, { filter: or }))
    assert.equal(found.totalDocs, 2)
    const expanded = await bodyOf(
      lister.api.get<Page<{ owner: object }>>(path, { populate: 'owner creator sharedWith' }),
    )
    assert.deepEqual(expanded.docs.at(-1)!.owner, {
      _id: lister.id,
      id: lister.id,
      name: 'lister',
      email: lister.email,
    })
  })

  it('400: a filter, a sort or a projection of a secret', async () => {
    for (const name of ['smtpPassword', 'smtp.password', 'oauthTokens', 'emailKey']) {
      for (const query of [{ filter: { [name]: 'x' } }, { sort: { [name]: 1 } }, { projection: { [name]: 1 } }]) {
        assert.equal((await spread(people.maker.api).get(path, query)).status, 400, name)
      }
    }
  })
})

describe('PATCH /api/emails/senders/:id', () => {
  it('200: changes what was given; smtp is merged', async () => {
    const server = { ...smtp, username: 'user', password: 'the secret' }
    const { id } = await bodyOf(createSmtp(server), 201)
    const updated = await bodyOf(
      people.maker.api.patch(`${path}/${id}`, {
        name: 'New',
        replyTo: 'r@example.com',
        active: false,
        smtp: { port: 2525, password: 'the secret' },
      }),
    )
    assert.deepEqual(updated, { success: true, message: 'updated' })
    const {
      name,
      replyTo,
      active,
      smtp: merged,
    } = await bodyOf(
      people.maker.api.get<{ name: string; replyTo: string; active: boolean; smtp: object }>(`${path}/${id}`),
    )
    assert.deepEqual([name, replyTo, active], ['New', 'r@example.com', false])
    assert.deepEqual(merged, { host: smtp.host, port: 2525, secure: false, username: 'user' })
    await bodyOf(people.maker.api.patch(`${path}/${id}`, { replyTo: null, smtp: { username: null } }))
    const cleared = await bodyOf(people.maker.api.get<Record<string, unknown>>(`${path}/${id}`))
    assert.deepEqual([cleared.replyTo, (cleared.smtp as { username: null }).username], [null, null])
  })

  it('400: another server for the stored password, which is given again or stays where it was meant to go', async () => {
    const { id } = await bodyOf(createSmtp({ ...smtp, username: 'user', password: 'the secret' }), 201)
    const change = (server: object) => spread(people.maker.api).patch<Refusal>(`${path}/${id}`, { smtp: server })
    for (const server of [
      { host: '192.0.2.2' },
      { port: 25 },
      { secure: true },
      { host: '192.0.2.2', username: 'u' },
    ]) {
      const { status, body } = await change(server)
      assert.deepEqual([status, body.message], [400, 'missing field -> smtp.password'])
    }
    await bodyOf(change({ ...smtp, username: 'other' }))
    await bodyOf(change({ host: '192.0.2.2', username: null }))
  })

  it('400: nothing, what cannot change, and wrong values', async () => {
    const { id } = await bodyOf(createSmtp(smtp), 201)
    const cases: [body: object, message: RegExp][] = [
      [{}, /^missing field/],
      [{ email: 'b@mail.example.com' }, /^extra field -> email$/],
      [{ delivery: 'hosted' }, /^extra field -> delivery$/],
      [{ owner: people.admin.id }, /^extra field -> owner$/],
      [{ name: '' }, /^invalid field -> name/],
      [{ active: 'no' }, /^invalid field -> active/],
      [{ replyTo: 'no address' }, /^invalid field -> replyTo/],
      [{ smtp: {} }, /^missing field -> smtp.host/],
      [{ smtp: { host: '10.0.0.1' } }, /^invalid field -> smtp.host/],
      [{ smtp: { port: 22 } }, /^invalid field -> smtp.port/],
      [{ smtp: { username: 'u' } }, /^missing field -> smtp.password/],
      [{ smtp: { password: 'p' } }, /^missing field -> smtp.username/],
    ]
    for (const [body, message] of cases) {
      const answer = await spread(people.maker.api).patch<Refusal>(`${path}/${id}`, body)
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.match(answer.body.message, message)
    }
    const hosted = await bodyOf(createHosted(), 201)
    const answer = await people.maker.api.patch<Refusal>(`${path}/${hosted.id}`, { smtp: { port: 25 } })
    assert.deepEqual([answer.status, answer.body.path], [400, 'smtp'])
  })
})

describe('PATCH /api/emails/senders/:id/set-default', () => {
  const defaults = async () => {
    const page = await bodyOf(spread(people.maker.api).get<Page<Sender>>(path, { filter: { isDefault: true } }))
    return page.docs.map(({ id }) => id)
  }

  it('200: takes the place of the one before', async () => {
    const [one, two] = [await bodyOf(create(people.maker), 201), await bodyOf(create(people.maker), 201)]
    for (const { id } of [one, two, one, one]) {
      await bodyOf(people.maker.api.patch(`${path}/${id}/set-default`))
      assert.deepEqual(await defaults(), [id])
    }
    await bodyOf(people.maker.api.delete(`${path}/${one.id}`))
    assert.deepEqual(await defaults(), [])
    await bodyOf(people.maker.api.patch(`${path}/${two.id}/set-default`))
    assert.deepEqual(await defaults(), [two.id])
  })

  it('200: one default, however many are made it at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => bodyOf(create(people.maker), 201)))
    await Promise.all(made.map(({ id }) => bodyOf(spread(people.maker.api).patch(`${path}/${id}/set-default`))))
    assert.equal((await defaults()).length, 1)
  })
})

describe('sharing', () => {
  it('200: lists who it is shared with; sharing twice and unsharing a stranger change nothing', async () => {
    const { id } = await bodyOf(create(people.maker), 201)
    const userIds = [people.friend.id, people.holder.id, people.friend.id]
    for (let times = 0; times < 2; times++) await bodyOf(people.maker.api.patch(`${path}/${id}/share`, { userIds }))
    await bodyOf(people.maker.api.patch(`${path}/${id}/unshare`, { userIds: [people.stranger.id] }))
    const page = await bodyOf(people.maker.api.get<Page<object>>(`${path}/${id}/shared-users`))
    const shown = (person: Person, name: string) => ({ _id: person.id, id: person.id, name, email: person.email })
    assert.deepEqual(page.docs, [shown(people.friend, 'friend'), shown(people.holder, 'holder')])
    const query = { filter: { name: 'holder' } }
    const one = await bodyOf(people.maker.api.get<Page<object>>(`${path}/${id}/shared-users`, query))
    assert.deepEqual(one.docs, [shown(people.holder, 'holder')])
    await bodyOf(people.maker.api.patch(`${path}/${id}/unshare`, { userIds }))
    assert.equal((await bodyOf(people.maker.api.get<Page<object>>(`${path}/${id}/shared-users`))).totalDocs, 0)
  })

  it('400: users that are unknown or of another organization, none at all, and wrong ids', async () => {
    const { id } = await bodyOf(create(people.maker), 201)
    const body = { name: 'O', email: 'other@elsewhere.test', password: 'made for tests only' }
    const { user } = await bodyOf(stack.api.post<{ user: { id: string } }>('/api/auth/register', body), 201)
    const cases: [action: string, body: object, message: RegExp][] = [
      ['share', { userIds: [people.friend.id, user.id] }, /^invalid field -> userIds.1: no such user$/],
      ['share', { userIds: [unknownId] }, /^invalid field -> userIds.0: no such user$/],
      ['share', { userIds: [] }, /^empty array -> userIds$/],
      ['share', {}, /^missing field -> userIds$/],
      ['share', { userIds: ['x'] }, /^invalid field -> userIds.0/],
      ['share', { userIds: unknownId }, /^invalid field -> userIds/],
      ['share', { userIds: [unknownId], more: 1 }, /^extra field -> more$/],
      ['unshare', { userIds: [] }, /^empty array -> userIds$/],
      ['unshare', {}, /^missing field -> userIds$/],
      ['transfer', { userId: user.id }, /^invalid field -> userId: no such user$/],
      ['transfer', {}, /^missing field -> userId$/],
      ['transfer', { userId: 'x' }, /^invalid field -> userId/],
      ['test', {}, /^missing field -> to$/],
      ['test', { to: 'nobody' }, /^invalid field -> to/],
    ]
    for (const [action, given, message] of cases) {
      const verb = action === 'test' ? 'POST' : 'PATCH'
      const answer = await spread(people.maker.api).request<Refusal>(verb, `${path}/${id}/${action}`, { body: given })
      assert.equal(answer.status, 400, JSON.stringify(given))
      assert.match(answer.body.message, message)
    }
    assert.deepEqual((await bodyOf(people.maker.api.get<Sender>(`${path}/${id}`))).sharedWith, [])
  })
})

describe('a sender that is not there', () => {
  it('404: unknown, or of another organization; 400: no id at all', async () => {
    const body = { name: 'F', email: 'foreign@elsewhere.test', password: 'made for tests only' }
    const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', body), 201)
    const foreign = stack.api.as(token)
    const { id } = await bodyOf(create(people.maker), 201)
    const [unknown, other] = [await foreign.get(`${path}/${unknownId}`), await foreign.get(`${path}/${id}`)]
    assert.equal(unknown.status, 404)
    assert.equal(unknown.text, '{"error":true,"message":"sender not found"}')
    assert.equal(other.text, unknown.text)
    assert.equal((await foreign.get<Refusal>(`${path}/nonsense`)).body.message.slice(0, 20), 'invalid field -> id:')
  })
})
