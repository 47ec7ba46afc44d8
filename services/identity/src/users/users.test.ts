import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const publicFields = [
  '_id',
  'id',
  'name',
  'email',
  'image',
  'role',
  'blocked',
  'blockedAt',
  'emailVerified',
  'tags',
  'attributes',
  'country',
  'timezone',
  'language',
  'currency',
  'lastLoginAt',
  'secondFactorAt',
  'createdAt',
  'updatedAt',
]
const updated = { success: true, message: 'updated' }
const notFound = { code: 'user.not_found', status: 404, message: 'user not found' }

describe('users', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  const newEmail = () => `${unique('person')}@example.com`
  const create = (request: { email?: string; password?: string; role?: string } = {}, person = owner) =>
    person.api.users.createUser({ name: 'Contact One', email: newEmail(), ...request })
  const get = (id: unknown) => owner.api.users.getUser({ id: String(id) })
  const login = (email: unknown, secret = PASSWORD) =>
    harness.public.authentication.login({ email: String(email), password: secret })
  const personWith = async (permissions: Record<string, unknown>) => {
    const { name } = await owner.api.roles.saveRole({
      name: unique('role'),
      kind: 'user',
      permissions,
    })
    return harness.addPerson(owner.organizationId, String(name))
  }
  const roleNamed = async (name: unknown) => {
    const { docs } = await owner.api.roles.listRoles({ list: { filter: JSON.stringify({ name }) } })
    return (docs as unknown as Json[])[0]!
  }
  const eventsOf = async (id: unknown) => {
    const about = { 'event.subject': String(id) }
    const entries = await harness.db.collection('outbox').find(about).sort({ at: 1, _id: 1 }).toArray()
    return entries.map(({ event }) => JSON.parse(JSON.stringify(event)) as Json)
  }

  describe('list and get', () => {
    let person: Person
    before(async () => {
      person = await harness.register()
      for (const name of ['a', 'b', 'c'])
        await person.api.users.createUser({ name, email: newEmail(), password: PASSWORD })
    })
    const list = (query = {}) => person.api.users.listUsers({ list: query })
    const names = async (query = {}) => ((await list(query)).docs as unknown as Json[]).map(({ name }) => name)

    it('shows the newest first, and what is public alone', async () => {
      const { docs, totalDocs } = await list()
      assert.equal(totalDocs, 4)
      assert.deepEqual(await names(), ['c', 'b', 'a', 'Owner'])
      for (const doc of docs as unknown as Json[]) assert.deepEqual(Object.keys(doc), publicFields)
    })

    it('pages, sorts, filters and projects', async () => {
      assert.deepEqual(await names({ page: 2, limit: 2 }), ['a', 'Owner'])
      assert.deepEqual(await names({ sort: '{"name":-1}', limit: 2 }), ['c', 'b'])
      assert.deepEqual(await names({ filter: '{"role":"owner"}' }), ['Owner'])
      assert.deepEqual(await names({ filter: JSON.stringify({ email: person.email.toUpperCase() }) }), ['Owner'])
      const [doc] = (await list({ projection: '{"name":1}', limit: 1 })).docs as unknown as Json[]
      assert.deepEqual(Object.keys(doc!), ['_id', 'id', 'name'])
      assert.equal(((await list({ pagination: false })) as unknown as Json[]).length, 4)
    })

    for (const field of ['passwordHash', 'emailKey', 'roleId', 'organization', '__proto__']) {
      for (const parameter of ['filter', 'sort', 'projection']) {
        it(`knows no field ${field} in ${parameter}`, () =>
          assert.rejects(list({ [parameter]: JSON.stringify({ [field]: 1 }) }), { status: 400, path: parameter }))
      }
    }

    it('gets one', async () => {
      const [doc] = (await list({ limit: 1 })).docs as unknown as Json[]
      assert.deepEqual(await person.api.users.getUser({ id: String(doc!.id) }), doc)
    })

    it('knows what is not there', () => assert.rejects(get('f'.repeat(24)), notFound))
  })

  describe('create', () => {
    it('makes an account that can sign in', async () => {
      const { memberCount } = await roleNamed('user')
      const { id, createdAt, updatedAt, email, ...rest } = await create({ password: PASSWORD })
      assert.deepEqual(rest, {
        _id: id,
        name: 'Contact One',
        image: null,
        role: 'user',
        blocked: false,
        blockedAt: null,
        emailVerified: false,
        tags: [],
        attributes: {},
        country: null,
        timezone: null,
        language: null,
        currency: null,
        lastLoginAt: null,
        secondFactorAt: null,
      })
      assert.equal((await login(email)).user!.id, id)
      assert.equal((await roleNamed('user')).memberCount, Number(memberCount) + 1)
      assert.ok(createdAt && updatedAt)
    })

    it('with a custom role of members', async () => {
      const { name } = await owner.api.roles.saveRole({ name: unique('role'), kind: 'user', permissions: {} })
      assert.equal((await create({ password: PASSWORD, role: String(name) })).role, name)
      assert.equal((await roleNamed(name)).memberCount, 1)
    })

    it('publishes its event in the same transaction', async () => {
      const user = await create({ password: PASSWORD })
      const [event, ...more] = await eventsOf(user.id)
      assert.deepEqual(more, [])
      assert.equal(event!.type, 'user.created')
      assert.deepEqual(event!.data, { user, actor: { kind: 'user', id: owner.userId, name: 'Owner' } })
    })

    it('refuses an email that is taken, whatever its case, and leaves nothing behind', async () => {
      const { email } = await create({ password: PASSWORD })
      const before = (await roleNamed('user')).memberCount
      await assert.rejects(create({ email: String(email).toUpperCase(), password: PASSWORD }), {
        status: 409,
        message: 'duplicate -> email',
        path: 'email',
      })
      assert.equal((await roleNamed('user')).memberCount, before)
    })

    it('takes an email that has an account elsewhere', async () => {
      const { email } = await harness.register()
      assert.equal((await create({ email, password: PASSWORD })).email, email)
    })

    it('refuses a role that does not exist, is for tokens, or belongs to another organization', async () => {
      const stranger = await harness.register()
      const foreign = unique('foreign')
      await stranger.api.roles.saveRole({ name: foreign, kind: 'user', permissions: {} })
      const { name: forTokens } = await owner.api.roles.saveRole({
        name: unique('role'),
        kind: 'api',
        permissions: {},
      })
      for (const role of ['nobody', foreign, String(forTokens), 'Owner', '$ne'])
        await assert.rejects(create({ role, password: PASSWORD }), {
          status: 400,
          message: `Unknown role: ${role}`,
          path: 'role',
        })
    })

    it('refuses a role beyond oneself', async () => {
      const person = await personWith({ users: ['create'], links: ['read'] })
      const { name } = await owner.api.roles.saveRole({
        name: unique('role'),
        kind: 'user',
        permissions: { links: ['read', 'delete'] },
      })
      await assert.rejects(create({ role: String(name), password: PASSWORD }, person), {
        status: 403,
        message: 'Role exceeds your permissions: links.delete',
      })
      for (const role of ['admin', 'owner'])
        await assert.rejects(create({ role, password: PASSWORD }, person), { status: 403, message: /^Role exceeds/ })
      const admin = await harness.addPerson(owner.organizationId, 'admin')
      await assert.rejects(create({ role: 'owner', password: PASSWORD }, admin), {
        status: 403,
        message: 'Only an owner may make another owner.',
      })
    })

    it('needs the permission', async () => {
      const person = await personWith({ users: ['read'] })
      await assert.rejects(create({ password: PASSWORD }, person), {
        status: 403,
        message: 'Permission denied: users.create',
      })
    })
  })

  describe('without a password', () => {
    const mailTo = (email: unknown) => harness.mails.find(({ to }) => to === email)!
    const tokenIn = ({ text }: { text: string }) => /\?token=(\w+)/.exec(text)![1]!
    const reset = (token: string, secret = 'made by myself') =>
      harness.public.authentication.resetPassword({ token, password: secret })

    it('is sent a mail, and signs in with what it sets by it', async () => {
      const { email, id } = await create()
      await assert.rejects(login(email, ''), { status: 401 })
      const mail = mailTo(email)
      assert.equal(mail.subject, 'Set your password')
      assert.deepEqual(await reset(tokenIn(mail)), updated)
      assert.equal((await login(email, 'made by myself')).user!.emailVerified, true)
      assert.deepEqual(
        (await eventsOf(id)).map(({ type }) => type).filter(type => String(type) !== 'session.failed'),
        ['user.created', 'user.email_verified', 'user.password_set'],
      )
    })

    it('sets it once, and not at all with a token that is not from the mail or has expired', async () => {
      const refused = { status: 400, message: 'the link has expired or was used', path: 'token' }
      const { email } = await create()
      const token = tokenIn(mailTo(email))
      await assert.rejects(reset('x'.repeat(60)), refused)
      await assert.rejects(reset('{"$ne":null}'), refused)
      const attempts = await Promise.allSettled([1, 2, 3].map(() => reset(token)))
      assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
      await assert.rejects(reset(token), refused)

      const late = await create()
      const past = { $set: { expiresAt: new Date(Date.now() - 1) } }
      await harness.db.collection('password_resets').updateMany({}, past)
      await assert.rejects(reset(tokenIn(mailTo(late.email))), refused)
    })

    it('sets none while the account is blocked, and afterwards by the same link', async () => {
      const { email, id } = await create()
      const token = tokenIn(mailTo(email))
      await owner.api.users.blockUser({ id: String(id) })
      await assert.rejects(reset(token), { status: 403, message: 'Account is blocked.' })
      await owner.api.users.unblockUser({ id: String(id) })
      await assert.rejects(login(email, 'made by myself'), { status: 401 })
      assert.deepEqual(await reset(token), updated)
    })

    it('ends the sessions there are at once', async () => {
      const { email } = await create()
      const users = harness.db.collection('users')
      const { passwordHash } = (await users.findOne({ emailKey: owner.email }))!
      await users.updateOne({ emailKey: email }, { $set: { passwordHash } })
      const api = harness.with(String((await login(email)).token))
      await api.caller()
      await reset(tokenIn(mailTo(email)))
      await assert.rejects(api.caller(), { status: 401, message: 'Invalid or expired session.' })
    })

    it('can ask for the mail again, and for another organization’s account not', async () => {
      const { email } = await create({ password: PASSWORD })
      const { organizationId } = await harness.register()
      const forgot = (request: { email: string; orgId?: string }) =>
        harness.public.authentication.forgotPassword(request)
      const mails = () => harness.mails.filter(({ to }) => to === String(email))
      const answer = await forgot({ email: String(email), orgId: organizationId })
      assert.deepEqual(await forgot({ email: newEmail() }), answer)
      assert.deepEqual(await forgot({ email: String(email).toUpperCase(), orgId: owner.organizationId }), answer)
      for (let attempt = 0; mails().length === 0 && attempt < 200; attempt++) await pause(10)
      assert.deepEqual(
        mails().map(({ subject }) => subject),
        ['Reset your password'],
      )
      assert.deepEqual(await reset(tokenIn(mailTo(email))), updated)
      await assert.rejects(login(email), { status: 401 })
      assert.equal((await login(email, 'made by myself')).user!.email, email)
    })

    it('gets five mails at most that were not used', async () => {
      const email = String((await create()).email)
      for (let round = 0; round < 8; round++) {
        await harness.public.authentication.forgotPassword({ email })
        const pending = () => harness.mails.filter(({ to }) => to === email).length
        for (let attempt = 0; pending() < Math.min(round + 2, 5) && attempt < 200; attempt++) await pause(10)
      }
      assert.equal(harness.mails.filter(({ to }) => to === email).length, 5)
    })

    it('keeps the secret of the mail nowhere else', async () => {
      const { email, id } = await create()
      const stored = await harness.db.collection('password_resets').find().toArray()
      assert.ok(!JSON.stringify([stored, await eventsOf(id)]).includes(tokenIn(mailTo(email))))
    })
  })

  describe('update', () => {
    it('changes what it names and nothing else', async () => {
      const { updatedAt: _, ...before } = await create({ password: PASSWORD })
      const profile = {
        name: 'Contact Two',
        image: 'https://example.com/two.png',
        country: 'DE',
        timezone: 'Europe/Berlin',
        language: 'de-DE',
        currency: 'EUR',
      }
      assert.deepEqual(await owner.api.users.updateUser({ id: String(before.id), ...profile }), updated)
      const { updatedAt: __, ...after } = await get(before.id)
      assert.deepEqual(after, { ...before, ...profile })
      const [, event] = await eventsOf(before.id)
      assert.equal(event!.type, 'user.updated')
      assert.deepEqual(event!.data!.changed, Object.keys(profile))
    })

    it('removes what is null', async () => {
      const { id } = await create({ password: PASSWORD })
      await owner.api.users.updateUser({ id: String(id), country: 'DE', image: 'https://example.com/a.png' })
      await owner.api.users.updateUser({ id: String(id), country: '', image: '' })
      const { country, image } = await get(id)
      assert.deepEqual([country, image], [null, null])
    })

    it('merges attributes, and removes those that are null', async () => {
      const id = String((await create({ password: PASSWORD })).id)
      const put = (attributes: Record<string, string | number | boolean | null>) =>
        owner.api.users.updateUser({ id, attributes })
      await put({ plan: 'basic', seats: 3, trial: true })
      await put({ plan: 'pro', trial: null, absent: null })
      assert.deepEqual((await get(id)).attributes, { plan: 'pro', seats: 3 })
      const { totalDocs } = await owner.api.users.listUsers({ list: { filter: `{"attributes.seats":3,"id":"${id}"}` } })
      assert.equal(totalDocs, 1)
    })

    for (const [what, fields, path] of [
      ['an unknown country', { country: 'QX' }, 'country'],
      ['a country in lower case', { country: 'de' }, 'country'],
      ['an unknown time zone', { timezone: 'Europe/Nowhere' }, 'timezone'],
      ['an offset for a time zone', { timezone: '+01:00' }, 'timezone'],
      ['an unknown language', { language: 'd' }, 'language'],
      ['an unknown currency', { currency: 'QQQ' }, 'currency'],
      ['an attribute that reads as a path', { attributes: { 'a.b': 1 } }, 'attributes.a.b'],
      ['an attribute that reads as an operator', { attributes: { $set: 1 } }, 'attributes.$set'],
      ['a long text for an attribute', { attributes: { a: 'x'.repeat(1001) } }, 'attributes.a'],
      ['__proto__ among attributes', { attributes: JSON.parse('{"__proto__":1}') }, 'attributes.__proto__'],
      [
        'more than 50 attributes',
        { attributes: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, n])) },
        'attributes',
      ],
    ] as const) {
      it(`refuses ${what}`, () =>
        assert.rejects(owner.api.users.updateUser({ id: owner.userId, ...fields }), {
          code: 'request.invalid_field',
          status: 400,
          path,
        }))
    }

    it('publishes nothing without a change', async () => {
      const { id, name } = await create({ password: PASSWORD })
      assert.deepEqual(await owner.api.users.updateUser({ id: String(id), name: String(name) }), updated)
      assert.equal((await eventsOf(id)).length, 1)
    })

    it('lets a person act under the new name at once', async () => {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      await person.api.caller()
      await owner.api.users.updateUser({ id: person.userId, name: 'Renamed' })
      assert.equal((await person.api.caller()).userName, 'Renamed')
    })

    it('loses no attribute to another update at the same time', async () => {
      const id = String((await create({ password: PASSWORD })).id)
      const puts = ['a', 'b', 'c', 'd'].map(name => owner.api.users.updateUser({ id, attributes: { [name]: 1 } }))
      await Promise.all(puts)
      assert.deepEqual(Object.keys((await get(id)).attributes!).sort(), ['a', 'b', 'c', 'd'])
    })
  })

  describe('tags', () => {
    it('are replaced wholesale, without repetition', async () => {
      const id = String((await create({ password: PASSWORD })).id)
      await owner.api.users.replaceUserTags({ id, tags: ['one', 'two', 'one'] })
      assert.deepEqual((await get(id)).tags, ['one', 'two'])
      assert.deepEqual(await owner.api.users.replaceUserTags({ id, tags: [] }), updated)
      assert.deepEqual((await get(id)).tags, [])
    })
  })

  describe('of another organization', () => {
    it('are as unknown as those that do not exist', async () => {
      const { api } = await harness.register()
      const { id: theirs } = await create({ password: PASSWORD })
      const answers = (id: string) =>
        Promise.all(
          [
            api.users.getUser({ id }),
            api.users.updateUser({ id, name: 'Mine' }),
            api.users.updateUser({ id, country: 'DE' }),
            api.users.replaceUserTags({ id, tags: ['mine'] }),
          ].map(call =>
            call.then(
              () => 'done',
              ({ code, status, body }) => JSON.stringify({ code, status, body }),
            ),
          ),
        )
      const refusals = await answers(String(theirs))
      assert.deepEqual(refusals, await answers('f'.repeat(24)))
      for (const refusal of refusals) assert.match(refusal, /user not found/)
      assert.equal((await api.users.listUsers({ list: { filter: `{"_id":"${theirs}"}` } })).totalDocs, 0)
      assert.equal((await get(theirs)).name, 'Contact One')
    })
  })
})

describe('users who cannot be mailed', () => {
  it('are refused with 503, and keep neither their address nor their place in a role', async test => {
    const harness = await startHarness({ MESSAGING_ADDRESS: '127.0.0.1:1' })
    test.after(harness.stop)
    const { api } = await harness.register()
    const count = async () => {
      const { docs } = await api.roles.listRoles({ list: { filter: '{"name":"user"}' } })
      return (docs as unknown as Json[])[0]!.memberCount
    }
    const before = await count()
    const create = (request: object = {}) =>
      api.users.createUser({ name: 'Contact One', email: 'contact-1@example.com', ...request })
    await assert.rejects(create(), { status: 503 })
    assert.equal((await api.users.listUsers({})).totalDocs, 1)
    assert.equal(await count(), before)
    assert.equal(await harness.db.collection('password_resets').countDocuments(), 0)
    assert.equal((await create({ password: PASSWORD })).email, 'contact-1@example.com')
  })
})
