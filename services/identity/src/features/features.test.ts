import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Harness, type Json, type Person, startHarness } from '../../test/identity.ts'

/** Names with a special meaning in paths, pipelines or JavaScript. */
const oddNames = [
  'a',
  'a.b',
  '.a',
  'a.',
  '$on',
  '$a.b',
  'content editor',
  'Größe',
  '__proto__',
  'constructor',
  '0',
  'on',
]

describe('lists of features, by what roles switch', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
    for (const name of ['marketer', 'seller']) await saveRole(name)
    await create('on', { marketer: true, seller: false })
    await create('off', { marketer: false })
    await create('other', { seller: true })
    await create('none')
  })
  after(() => harness.stop())

  const saveRole = (name: string, kind: 'api' | 'user' = 'user', { api } = owner) =>
    api.roles.saveRole({ name, kind, permissions: { links: ['read'] } })
  const create = (slug: string, roles: Record<string, boolean | null> = {}, { api } = owner) =>
    api.features.createFeature({ slug, roles })
  const list = async (query: object, { api } = owner) => {
    const given = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)]))
    const page = await api.features.listFeatures({ list: { ...given, limit: 100 } })
    const all = await api.features.listFeatures({ list: { ...given, pagination: false } })
    const docs = page.docs as unknown as Json[]
    assert.deepEqual([all, Number(page.totalDocs)], [docs, docs.length])
    return docs
  }
  const slugs = async (query: object, by = owner) => (await list(query, by)).map(({ slug }) => String(slug))

  const filters: [filter: object, expected: string[]][] = [
    [{ 'roles.marketer': true }, ['on']],
    [{ 'roles.marketer': 'false' }, ['off']],
    [{ 'roles.marketer': null }, ['none', 'other']],
    [{ 'roles.marketer': { $ne: true } }, ['none', 'other', 'off']],
    [{ 'roles.marketer': { $exists: true } }, ['off', 'on']],
    [{ 'roles.marketer': { $exists: false } }, ['none', 'other']],
    [{ 'roles.marketer': { $in: [false, null] } }, ['none', 'other', 'off']],
    [{ 'roles.marketer': { $nin: [false, null] } }, ['on']],
    [{ 'roles.marketer': { $gt: false } }, ['on']],
    [{ roles: { marketer: { $eq: true } } }, ['on']],
    [{ 'roles.marketer': true, 'roles.seller': false, slug: 'on' }, ['on']],
    [{ $or: [{ 'roles.marketer': false }, { 'roles.seller': true }] }, ['other', 'off']],
    [{ roles: { marketer: false } }, ['off']],
    [{ roles: { marketer: true } }, []],
    [{ roles: {} }, ['none']],
    [{ roles: { $ne: {} } }, ['other', 'off', 'on']],
    [{ 'roles.user': { $exists: true } }, []],
  ]
  for (const [filter, expected] of filters) {
    it(`finds ${JSON.stringify(filter)}`, async () => assert.deepEqual(await slugs({ filter }), expected))
  }

  it('sorts by them, without a switch first', async () => {
    assert.deepEqual(await slugs({ sort: { 'roles.marketer': 1 } }), ['other', 'none', 'off', 'on'])
    assert.deepEqual(await slugs({ sort: { 'roles.marketer': -1 } }), ['on', 'off', 'none', 'other'])
    assert.deepEqual(await slugs({ sort: { 'roles.seller': -1, 'roles.marketer': 'desc' } }), [
      'other',
      'on',
      'off',
      'none',
    ])
  })

  it('shows the same records as without', async () => {
    const [plain, found] = [await list({}), await list({ filter: { 'roles.marketer': true }, sort: { slug: 1 } })]
    assert.deepEqual(found, [plain.at(-1)])
    assert.deepEqual(found[0]!.roles, { marketer: true, seller: false })
    const [projected] = await list({ filter: { slug: 'on' }, projection: { 'roles.marketer': 1, _id: 0 } })
    assert.deepEqual(projected, { roles: { marketer: true } })
  })

  it('takes every name that a role can have', async () => {
    const other = await harness.register()
    for (const [index, name] of oddNames.entries()) {
      await saveRole(name, 'user', other)
      await create(`one-${index}`, Object.fromEntries([[name, true]]), other)
    }
    for (const [index, name] of oddNames.entries()) {
      const path = `roles.${name}`
      const slug = `one-${index}`
      assert.deepEqual(await slugs({ filter: { [path]: true } }, other), [slug], name)
      assert.deepEqual(await slugs({ filter: { [path]: { $exists: true } } }, other), [slug], name)
      assert.equal((await slugs({ sort: { [path]: -1 } }, other))[0], slug, name)
      const projected = await list({ filter: { slug }, projection: { [path]: 1, id: 0 } }, other)
      assert.deepEqual(projected, [{ roles: Object.fromEntries([[name, true]]) }], name)
      const left = await list({ filter: { slug }, projection: { [path]: 0 } }, other)
      assert.deepEqual(left[0]!.roles, {}, name)
      if (name.startsWith('$')) continue // alone, such a name would be an operator
      assert.deepEqual(await slugs({ filter: { roles: Object.fromEntries([[name, true]]) } }, other), [slug], name)
    }
  })

  it('refuses names that no role of the organization for members has', async () => {
    await saveRole('integration', 'api')
    const other = await harness.register()
    for (const path of [
      'roles.nobody',
      'roles.integration',
      'roles.role',
      'roles.marketer.x',
      'roles.0.on',
      'roles.',
    ]) {
      for (const [parameter, value] of Object.entries({ filter: true, sort: 1, projection: 1 })) {
        const refused = { status: 400, path: parameter }
        await assert.rejects(list({ [parameter]: { [path]: value } }), refused, `${parameter} ${path}`)
      }
    }
    await assert.rejects(list({ filter: { 'roles.marketer': true } }, other), { status: 400, path: 'filter' })
    await assert.rejects(list({ filter: { 'roles.marketer': 'maybe' } }), { status: 400, path: 'filter' })
  })
})
