import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

const LIMIT = 3

describe('quotas of an organization', () => {
  let harness: Harness
  before(async () => {
    const names = ['TOKENS', 'ROLES', 'ACCOUNTS', 'WORKSPACES', 'INVITATIONS', 'FEATURES']
    harness = await startHarness(Object.fromEntries(names.map(name => [`${name}_PER_ORGANIZATION`, String(LIMIT)])))
  })
  after(() => harness.stop())

  const newAddress = () => `${unique('someone')}@example.com`
  let workspace = ''
  const kinds: Record<string, { what: string; there: number; create(owner: Person): Promise<Json> }> = {
    tokens: { what: 'API tokens', there: 0, create: ({ api }) => api.tokens.createToken({ name: 'Token' }) },
    roles: {
      what: 'roles',
      there: 0,
      create: ({ api }) => api.roles.saveRole({ name: unique('role'), kind: 'api', permissions: { links: ['read'] } }),
    },
    accounts: {
      what: 'accounts',
      there: 1,
      create: ({ api }) => api.users.createUser({ name: 'Person', email: newAddress(), password: PASSWORD }),
    },
    workspaces: { what: 'workspaces', there: 0, create: ({ api }) => api.workspaces.createWorkspace({ name: 'W' }) },
    invitations: {
      what: 'pending invitations',
      there: 0,
      create: async ({ api }) => {
        workspace ||= String((await api.workspaces.createWorkspace({ name: 'W' })).id)
        return api.invitations.createInvitation({ id: workspace, email: newAddress(), role: 'user' })
      },
    },
    features: {
      what: 'features',
      there: 0,
      create: ({ api }) => api.features.createFeature({ slug: unique('feature') }),
    },
  }

  for (const [kind, { what, there, create }] of Object.entries(kinds)) {
    it(`${kind}: refuses one too many, also of many at once, and no other organization`, async () => {
      workspace = ''
      const owner = await harness.register()
      const refused = {
        code: 'quota.exceeded',
        status: 409,
        message: `limit reached: ${LIMIT} ${what} per organization`,
      }
      for (let count = there; count < LIMIT - 1; count++) await create(owner)
      const attempts = await Promise.allSettled([1, 2, 3, 4].map(() => create(owner)))
      const made = attempts.filter(({ status }) => status === 'fulfilled')
      assert.equal(made.length, 1)
      await assert.rejects(create(owner), refused)
      workspace = ''
      await create(await harness.register())
    })
  }

  it('a role that is there can be saved again, and what is deleted makes room', async () => {
    const { api } = await harness.register()
    const save = (name: string) => api.roles.saveRole({ name, kind: 'api', permissions: { links: ['read'] } })
    const [first] = await Promise.all(['one', 'two', 'three'].map(save))
    await save('one')
    await assert.rejects(save('four'), { code: 'quota.exceeded' })
    await api.roles.deleteRole({ id: String(first!.id) })
    await save('four')
  })
})

describe('sessions of an account', () => {
  it('refuses one too many until others have ended', async test => {
    const harness = await startHarness({ SESSIONS_PER_ACCOUNT: String(LIMIT) })
    test.after(harness.stop)
    const owner = await harness.register()
    const login = () => harness.public.authentication.login({ email: owner.email, password: PASSWORD })
    await login()
    await login()
    await assert.rejects(login(), { code: 'quota.too_many_pending', status: 429 })
    await owner.api.authentication.logout({})
    await login()
  })
})
