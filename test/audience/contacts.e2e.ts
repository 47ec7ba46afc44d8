import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type Contact = {
  id: string
  email: string
  name: string
  attributes: Record<string, unknown>
  tags: string[]
  unsubscribed: boolean
  blocked: boolean
  blockedReason: string | null
  user: string | { _id: string; name: string; email: string } | null
  emailStatus: string
}
type Page<T> = { docs: T[]; totalDocs: number; totalPages: number; page: number; nextPage: number | null }
type Entry = { type: string; subject: string; contact: string; actor: { kind: string; name: string } }
type User = { id: string; email: string }

const unknown = 'f'.repeat(24)
const updated = { success: true, message: 'updated' }

let stack: TestStack
let api: Api
/** A client of another organization. */
let stranger: Api
let count = 0

before(async () => {
  stack = await startStack({ settings: { REGISTRATION: 'open' } })
  api = stack.owner
  stranger = stack.api.as((await register()).token)
  await bodyOf(api.post('/api/audience/attributes', { name: 'City', slug: 'city', type: 'string' }), 201)
  await bodyOf(api.post('/api/audience/attributes', { name: 'Age', slug: 'age', type: 'number' }), 201)
})
after(() => stack?.stop())

const newEmail = () => `contact${++count}@example.com`
const register = () => {
  const person = { name: 'Person One', email: newEmail(), password: 'made for tests only', organization: 'Other' }
  return bodyOf(stack.api.post<{ token: string }>('/api/auth/register', person), 201)
}
const create = (body: object = {}) => bodyOf(api.post<Contact>('/api/audience', { email: newEmail(), ...body }), 201)
const get = (id: string) => bodyOf(api.get<Contact>(`/api/audience/${id}`))
const patch = (id: string, path: string, body?: object) => bodyOf(api.patch(`/api/audience/${id}${path}`, body ?? {}))
const list = (query: object = {}) => bodyOf(api.get<Page<Contact>>('/api/audience', { ...query }))
const newUser = async (password = 'made for tests only') =>
  bodyOf(api.post<User>('/api/users', { name: 'User One', email: newEmail(), password, role: 'user' }), 201)
const timeline = async (id: string, query: object = { $limit: 100 }) =>
  bodyOf(api.get<Page<Entry>>(`/api/audience/${id}/timeline`, { ...query }))
const until = (condition: () => Promise<boolean>) => eventually(String(condition), condition, { withinMs: 60_000 })
const refusal = ({ status, body }: Answer<unknown>) => [status, body]
const refused = async (answer: Promise<Answer<unknown>>, status: number, message: string, path?: string) =>
  assert.deepEqual(refusal(await answer), [status, { error: true, message, ...(path && { path }) }])

describe('contacts: 200 and 201', () => {
  it('a contact is created whole, and read as it was created', async () => {
    const body = { email: 'Whole@Example.com', name: 'Contact', attributes: { city: 'Oslo' }, tags: ['a', 'b', 'a'] }
    const created = await create(body)
    assert.deepEqual(
      [created.email, created.name, created.attributes, created.tags, created.unsubscribed, created.user],
      ['Whole@Example.com', 'Contact', { city: 'Oslo' }, ['a', 'b'], false, null],
    )
    assert.deepEqual(await get(created.id), created)
  })

  it('core fields, attributes and tags are changed each by its own route', async () => {
    const { id } = await create({ attributes: { city: 'Oslo' }, tags: ['old'] })
    assert.deepEqual(await patch(id, '', { name: 'New', unsubscribed: true }), updated)
    assert.deepEqual(await patch(id, '/attributes', { attributes: { city: null, age: 7 } }), updated)
    assert.deepEqual(await patch(id, '/tags', { tags: ['new'] }), updated)
    const contact = await get(id)
    assert.deepEqual(
      [contact.name, contact.unsubscribed, contact.attributes, contact.tags],
      ['New', true, { age: 7 }, ['new']],
    )
    await patch(id, '/tags', { tags: [] })
    assert.deepEqual((await get(id)).tags, [])
  })

  it('block excludes and unblock restores, both idempotent', async () => {
    const { id } = await create()
    await patch(id, '/block', { reason: 'asked to' })
    await patch(id, '/block', { reason: 'asked again' })
    assert.deepEqual([(await get(id)).blocked, (await get(id)).blockedReason], [true, 'asked again'])
    for (let time = 0; time < 2; time++) assert.deepEqual(await patch(id, '/unblock'), updated)
    assert.deepEqual([(await get(id)).blocked, (await get(id)).blockedReason], [false, null])
  })

  it('deleting returns the contact, and deletes no user', async () => {
    const user = await newUser()
    const { id } = await create()
    await patch(id, '/link-user', { userId: user.id })
    assert.equal((await bodyOf(api.delete<Contact>(`/api/audience/${id}`))).user, user.id)
    await bodyOf(api.get(`/api/users/${user.id}`))
  })

  it('a linked user is shown by populate, replaced by linking again, and gone after unlinking', async () => {
    const [one, two] = [await newUser(), await newUser()]
    const { id, email } = await create()
    for (const user of [one, two, two]) {
      assert.deepEqual(await patch(id, '/link-user', { userId: user.id }), updated)
      assert.equal((await get(id)).user, user.id)
    }
    const { docs } = await list({ filter: { email }, populate: 'user' })
    const shown = docs[0]?.user
    assert.ok(typeof shown === 'object' && shown?._id === two.id && shown.email === two.email)
    await patch(id, '/link-user', { userId: null })
    assert.equal((await get(id)).user, null)
  })

  it('the timeline is the contact’s and, while linked, the user’s', async () => {
    const password = 'made for tests only'
    const user = await newUser(password)
    const { id } = await create()
    await bodyOf(stack.api.post('/api/auth/login', { email: user.email, password }))
    await patch(id, '/link-user', { userId: user.id })
    await until(async () => (await timeline(id)).docs.some(({ type }) => type === 'session.created'))
    const { docs, totalDocs } = await timeline(id)
    assert.equal(totalDocs, docs.length)
    assert.ok(docs.every(({ contact }) => contact === id))
    assert.deepEqual(new Set(docs.map(({ subject }) => subject)), new Set(['contact', 'user']))
    const ofUser = await timeline(id, { filter: { subject: 'user' } })
    assert.equal(ofUser.totalDocs, docs.filter(({ subject }) => subject === 'user').length)
    await patch(id, '/link-user', { userId: null })
    const types = (await timeline(id)).docs.map(({ type }) => type)
    assert.deepEqual(types, ['contact.user_unlinked', 'contact.user_linked', 'contact.created'])
  })

  it('a user that is deleted is linked no more', async () => {
    const user = await newUser()
    const { id } = await create()
    await patch(id, '/link-user', { userId: user.id })
    await bodyOf(api.delete(`/api/users/${user.id}`))
    await until(async () => (await get(id)).user === null)
    const { docs } = await timeline(id)
    assert.deepEqual([docs[0]?.type, docs[0]?.actor.kind], ['contact.user_unlinked', 'user'])
  })

  it('history shows what was done to whom, newest first, a page at a time', async () => {
    const { id } = await create({ name: 'One' })
    await patch(id, '', { name: 'Two' })
    await patch(id, '/tags', { tags: ['a'] })
    const types = ['contact.tags_replaced', 'contact.updated', 'contact.created']
    assert.deepEqual(
      (await timeline(id)).docs.map(({ type }) => type),
      types,
    )
    const second = await timeline(id, { $page: 2, $limit: 2 })
    assert.deepEqual(
      [second.docs.map(({ type }) => type), second.totalDocs, second.nextPage],
      [types.slice(2), 3, null],
    )
    const path = `/api/audience/${id}/attributes-history`
    const { docs } = await bodyOf(api.get<Page<{ key: string; from: unknown; to: unknown }>>(path))
    assert.deepEqual(
      docs.map(({ key, from, to }) => [key, from, to]),
      [
        ['tags', [], ['a']],
        ['name', 'One', 'Two'],
      ],
    )
    for (const view of ['activities', 'lists', 'emails'])
      assert.deepEqual((await bodyOf(api.get<Page<unknown>>(`/api/audience/${id}/${view}`))).docs, [], view)
  })

  it('a list is paged, filtered, sorted and projected', async () => {
    const tag = `tag${++count}`
    for (const name of ['b', 'c', 'a']) await create({ name, tags: [tag] })
    const names = async (query: object) =>
      (await list({ filter: { tags: tag }, ...query })).docs.map(({ name }) => name)
    assert.deepEqual(await names({}), ['a', 'c', 'b'], 'newest first')
    assert.deepEqual(await names({ sort: { name: 1 } }), ['a', 'b', 'c'])
    assert.deepEqual(await names({ sort: { name: 1 }, $page: 2, $limit: 2 }), ['c'])
    assert.deepEqual(await names({ filter: { tags: tag, name: { $gte: 'b' } }, sort: { name: 1 } }), ['b', 'c'])
    const all = await bodyOf(
      api.get<object[]>('/api/audience', { filter: { tags: tag }, pagination: 'false', projection: { name: 1 } }),
    )
    assert.deepEqual(
      all.map(contact => Object.keys(contact).sort()),
      Array.from({ length: 3 }, () => ['_id', 'id', 'name']),
    )
  })

  it('the export honours the filter', async () => {
    const tag = `tag${++count}`
    const { email } = await create({ name: 'Exported', tags: [tag] })
    const { headers, text } = await api.get('/api/audience/export', { filter: { tags: tag } })
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    const lines = text.split('\r\n')
    assert.equal(lines[0], 'email,name,unsubscribed,blocked,tags,createdAt,city,age')
    assert.ok(lines[1]?.startsWith(`${email},Exported,false,false,${tag},`))
    assert.equal(lines.length, 3)
  })
})

describe('contacts: 400', () => {
  let id: string
  before(async () => {
    id = (await create()).id
  })
  const attempts: [
    what: string,
    method: 'post' | 'patch',
    path: () => string,
    body: unknown,
    message: string,
    field?: string,
  ][] = [
    ['no email', 'post', () => '', { name: 'x' }, 'missing field -> email', 'email'],
    ['an invalid email', 'post', () => '', { email: 'x' }, 'invalid field -> email: must be an email address', 'email'],
    [
      'a name that is no text',
      'post',
      () => '',
      { email: 'a@example.com', name: 1 },
      'invalid field -> name: must be a string',
      'name',
    ],
    [
      'tags that are no array',
      'post',
      () => '',
      { email: 'a@example.com', tags: 'a' },
      'invalid field -> tags: must be an array',
      'tags',
    ],
    [
      'a blank tag',
      'post',
      () => '',
      { email: 'a@example.com', tags: [' '] },
      'invalid field -> tags.0: must not be empty',
      'tags.0',
    ],
    [
      'an opt-out that is no boolean',
      'post',
      () => '',
      { email: 'a@example.com', unsubscribed: 'yes' },
      'invalid field -> unsubscribed: must be true or false',
      'unsubscribed',
    ],
    [
      'an unknown attribute',
      'post',
      () => '',
      { email: 'a@example.com', attributes: { shoe: 1 } },
      'extra field -> attributes.shoe',
      'attributes.shoe',
    ],
    [
      'an attribute of a wrong type',
      'post',
      () => '',
      { email: 'a@example.com', attributes: { age: 'x' } },
      'invalid field -> attributes.age: must be a number',
      'attributes.age',
    ],
    [
      'an unknown field',
      'post',
      () => '',
      { email: 'a@example.com', blocked: true },
      'extra field -> blocked',
      'blocked',
    ],
    ['an update of nothing', 'patch', () => `/${id}`, {}, 'missing field -> email', 'email'],
    ['an update of another route’s field', 'patch', () => `/${id}`, { tags: [] }, 'extra field -> tags', 'tags'],
    [
      'a blank email',
      'patch',
      () => `/${id}`,
      { email: '' },
      'invalid field -> email: must be an email address',
      'email',
    ],
    ['no attributes', 'patch', () => `/${id}/attributes`, {}, 'missing field -> attributes', 'attributes'],
    [
      'attributes that are no object',
      'patch',
      () => `/${id}/attributes`,
      { attributes: [] },
      'invalid field -> attributes: must be an object',
      'attributes',
    ],
    ['no tags', 'patch', () => `/${id}/tags`, {}, 'missing field -> tags', 'tags'],
    [
      'a reason that is no text',
      'patch',
      () => `/${id}/block`,
      { reason: 1 },
      'invalid field -> reason: must be a string',
      'reason',
    ],
    ['no user', 'patch', () => `/${id}/link-user`, {}, 'missing field -> userId', 'userId'],
    ['a malformed user id', 'patch', () => `/${id}/link-user`, { userId: 'x' }, 'invalid field -> userId', 'userId'],
    ['a user id that is blank', 'patch', () => `/${id}/link-user`, { userId: '' }, 'invalid field -> userId', 'userId'],
    ['a malformed contact id', 'patch', () => '/x/tags', { tags: [] }, 'invalid field -> id', 'id'],
  ]
  for (const [what, method, path, body, message, field] of attempts)
    it(`${what} is refused and changes nothing`, async () => {
      const before = [await get(id), (await list()).totalDocs]
      const answer = await api[method]<{ message: string; path?: string }>(`/api/audience${path()}`, body)
      assert.equal(answer.status, 400, answer.text)
      assert.ok(answer.body.message.startsWith(message), answer.body.message)
      assert.equal(answer.body.path, field)
      assert.deepEqual([await get(id), (await list()).totalDocs], before)
    })

  it('invalid filters, orders and references name their parameter', async () => {
    for (const [parameter, value] of [
      ['filter', '{'],
      ['filter', '{"secret":1}'],
      ['filter', '{"lists":"x"}'],
      ['filter', '{"name":{"$where":"1"}}'],
      ['sort', '{"position":1}'],
      ['sort', '{"name":2}'],
      ['projection', '{"emailKey":1}'],
      ['populate', 'organization'],
    ] as const) {
      const { status, body } = await api.get<{ path: string }>('/api/audience', { [parameter]: value })
      assert.deepEqual([status, body.path], [400, parameter], value)
    }
  })
})

describe('contacts: 401 and 403', () => {
  it('every request needs a credential', async () => {
    const { status, text } = await stack.api.get('/api/audience')
    assert.deepEqual([status, text], [401, 'Unauthorized'])
  })

  it('who may only read can change nothing', async () => {
    const reader = { name: 'readers', kind: 'api', permissions: { audience: ['read'] } }
    await bodyOf(api.post('/api/access-control/save-role', reader))
    const { api: readOnly } = await makeToken(api, { role: 'readers' })
    const { id } = await create()
    await bodyOf(readOnly.get(`/api/audience/${id}`))
    for (const attempt of [
      readOnly.post('/api/audience', { email: newEmail() }),
      readOnly.patch(`/api/audience/${id}/link-user`, { userId: null }),
      readOnly.patch(`/api/audience/${id}/block`, {}),
      readOnly.delete(`/api/audience/${id}`),
      readOnly.get('/api/audience-lists'),
    ])
      assert.equal((await attempt).status, 403)
  })
})

describe('contacts: 404', () => {
  it('an unknown contact and one of another organization are answered alike', async () => {
    const { id } = await create()
    const paths = ['', '/timeline', '/activities', '/attributes-history', '/lists', '/emails']
    for (const path of paths) {
      await refused(api.get(`/api/audience/${unknown}${path}`), 404, 'contact not found')
      await refused(stranger.get(`/api/audience/${id}${path}`), 404, 'contact not found')
    }
    const changes: [string, object][] = [
      ['', { name: 'x' }],
      ['/attributes', { attributes: {} }],
      ['/tags', { tags: [] }],
      ['/block', {}],
      ['/unblock', {}],
      ['/link-user', { userId: null }],
    ]
    for (const [path, body] of changes)
      await refused(stranger.patch(`/api/audience/${id}${path}`, body), 404, 'contact not found')
    await refused(stranger.delete(`/api/audience/${id}`), 404, 'contact not found')
  })

  it('a user that is unknown, or of another organization, cannot be linked', async () => {
    const { id } = await create()
    await refused(api.patch(`/api/audience/${id}/link-user`, { userId: unknown }), 404, 'user not found')
    const { user } = await bodyOf(stranger.get<{ user: User }>('/api/auth/me'))
    await refused(api.patch(`/api/audience/${id}/link-user`, { userId: user.id }), 404, 'user not found')
  })
})

describe('contacts: 409', () => {
  it('an email is unique in its organization, whatever its case', async () => {
    const { id, email } = await create()
    const other = await create()
    await refused(api.post('/api/audience', { email: email.toUpperCase() }), 409, 'duplicate -> email', 'email')
    await refused(api.patch(`/api/audience/${other.id}`, { email }), 409, 'duplicate -> email', 'email')
    await bodyOf(stranger.post('/api/audience', { email }), 201)
    await patch(id, '', { email: newEmail() })
    await patch(other.id, '', { email })
  })

  it('a user is linked to one contact at most', async () => {
    const user = await newUser()
    const [one, two] = [await create(), await create()]
    await patch(one.id, '/link-user', { userId: user.id })
    await refused(
      api.patch(`/api/audience/${two.id}/link-user`, { userId: user.id }),
      409,
      'duplicate -> userId',
      'userId',
    )
    await patch(one.id, '/link-user', { userId: null })
    await patch(two.id, '/link-user', { userId: user.id })
  })
})

describe('bulk jobs, data and erasure: every status', () => {
  const bulk = '/api/audience/bulk'
  type Job = { state: string; result: { matched: number; changed: number } }
  const ended = async (jobId: string) => {
    const job = () => bodyOf(api.get<Job>(`${bulk}/${jobId}`))
    await until(async () => (await job()).state === 'completed')
    return job()
  }
  const change = (fields: object, changed: object = { addTags: ['a'] }) =>
    api.patch<{ jobId: string }>(bulk, { ...fields, change: changed })
  const statusOf = async (answer: Promise<Answer<unknown>>) => {
    const { status, body } = await answer
    const { path } = body as { path?: string }
    return path === undefined ? [status] : [status, path]
  }
  const newList = (body: object = {}) =>
    bodyOf(api.post<{ id: string }>('/api/audience-lists', { name: `List ${++count}`, ...body }), 201)

  it('200: tries, changes, undoes and deletes', async () => {
    const { id } = await create()
    const started = (await bodyOf(change({ contactIds: [id], dryRun: true }))).jobId
    assert.equal((await ended(started)).result.changed, 1)
    assert.deepEqual((await get(id)).tags, [])
    const { jobId } = await bodyOf(change({ contactIds: [id] }))
    assert.equal((await ended(jobId)).result.changed, 1)
    assert.deepEqual((await get(id)).tags, ['a'])
    await ended((await bodyOf(api.post<{ jobId: string }>(`${bulk}/${jobId}/undo`))).jobId)
    assert.deepEqual((await get(id)).tags, [])
    const jobs = await bodyOf(api.get<Page<{ id: string }>>(`${bulk}/jobs`))
    assert.ok(jobs.docs.some(job => job.id === jobId))
    await ended((await bodyOf(api.delete<{ jobId: string }>(bulk, { contactIds: [id] }))).jobId)
    assert.equal((await api.get(`/api/audience/${id}`)).status, 404)
  })

  it('400: what selects none or twice, changes nothing, or names what is unknown', async () => {
    const { id } = await create()
    const refusals = await Promise.all([
      statusOf(change({})),
      statusOf(change({ contactIds: [id], filter: {} })),
      statusOf(change({ filter: { name: { $where: '1' } } })),
      statusOf(change({ contactIds: ['x'] })),
      statusOf(change({ contactIds: [id] }, {})),
      statusOf(change({ contactIds: [id] }, { addToLists: [unknown] })),
      statusOf(change({ contactIds: [id] }, { unsubscribed: false })),
      statusOf(api.delete(bulk, {})),
    ])
    assert.deepEqual(refusals, [
      [400, 'contactIds'],
      [400, 'filter'],
      [400, 'filter'],
      [400, 'contactIds.0'],
      [400, 'change.addTags'],
      [400, 'change.addToLists.0'],
      [400, 'change.unsubscribed'],
      [400, 'contactIds'],
    ])
  })

  it('403: who lacks what a job requires', async () => {
    const { id } = await create()
    const { jobId } = await bodyOf(change({ contactIds: [id] }))
    const role = (name: string, permissions: object) =>
      bodyOf(api.post('/api/access-control/save-role', { name, kind: 'api', permissions }))
    await role('bulk-readers', { audience: ['read'] })
    await role('bulk-creators', { audience: ['read', 'create', 'update'] })
    const { api: reader } = await makeToken(api, { role: 'bulk-readers' })
    const { api: creator } = await makeToken(api, { role: 'bulk-creators' })
    await bodyOf(reader.get(`${bulk}/${jobId}`))
    const list = await newList()
    const toList = { contactIds: [id], change: { addToLists: [list.id] } }
    for (const attempt of [
      reader.patch(bulk, { contactIds: [id], change: { addTags: ['a'] } }),
      reader.post(`${bulk}/${jobId}/cancel`),
      reader.post(`${bulk}/${jobId}/undo`),
      creator.patch(bulk, toList),
      creator.delete(bulk, { contactIds: [id] }),
      creator.post(`/api/audience/${id}/erase`, {}),
    ])
      assert.equal((await attempt).status, 403)
  })

  it('404: unknown jobs and contacts, and those of another organization', async () => {
    const { id } = await create()
    const { jobId } = await bodyOf(change({ contactIds: [id] }))
    for (const by of [api, stranger]) {
      const job = by === api ? unknown : jobId
      const contact = by === api ? unknown : id
      await refused(by.get(`${bulk}/${job}`), 404, 'bulk job not found')
      await refused(by.post(`${bulk}/${job}/cancel`), 404, 'bulk job not found')
      await refused(by.post(`${bulk}/${job}/undo`), 404, 'bulk job not found')
      await refused(by.get(`/api/audience/${contact}/data`), 404, 'contact not found')
      await refused(by.post(`/api/audience/${contact}/erase`, {}), 404, 'contact not found')
    }
  })

  it('409: what is finished, undone or archived', async () => {
    const { id } = await create()
    const { jobId } = await bodyOf(change({ contactIds: [id] }))
    await ended(jobId)
    await refused(api.post(`${bulk}/${jobId}/cancel`), 409, 'the job has finished')
    const undo = await bodyOf(api.post<{ jobId: string }>(`${bulk}/${jobId}/undo`))
    await refused(api.post(`${bulk}/${jobId}/undo`), 409, 'the job was already undone')
    await ended(undo.jobId)
    assert.deepEqual(await statusOf(api.post(`${bulk}/${undo.jobId}/undo`)), [409])
    const { id: list } = await newList()
    await bodyOf(api.patch(`/api/audience-lists/${list}`, { archived: true }))
    const toArchived = change({ contactIds: [id] }, { addToLists: [list] })
    assert.equal((await toArchived).status, 409)
  })
})

describe('segments: every status', () => {
  const path = '/api/audience/segments'
  const save = (body: object = {}) =>
    api.post<{ id: string; name: string }>(path, { name: `Segment ${++count}`, filter: { tags: 'seg' }, ...body })

  it('200 and 201: a segment is what matches now', async () => {
    const { id } = await bodyOf(save(), 201)
    const counted = async () => (await bodyOf(api.get<{ count: number }>(`${path}/${id}/count`))).count
    assert.equal(await counted(), 0)
    const contact = await create({ tags: ['seg'] })
    assert.equal(await counted(), 1)
    const { docs } = await bodyOf(api.get<Page<Contact>>(`${path}/${id}/contacts`))
    assert.deepEqual(
      docs.map(each => each.id),
      [contact.id],
    )
    await bodyOf(api.patch(`${path}/${id}`, { filter: { tags: 'none' } }))
    assert.equal(await counted(), 0)
    await bodyOf(api.get(path))
    await bodyOf(api.delete(`${path}/${id}`))
    await bodyOf(api.get(`/api/audience/${contact.id}`))
  })

  it('400 and 409: invalid filters, and names that are taken in any case', async () => {
    const { id, name } = await bodyOf(save(), 201)
    const other = await bodyOf(save(), 201)
    const refusals = await Promise.all([
      save({ filter: { secret: 1 } }),
      save({ filter: { createdAt: { $gt: 'now-3x' } } }),
      save({ sort: { position: 1 } }),
      api.patch(`${path}/${id}`, { filter: { secret: 1 } }),
      save({ name: name.toUpperCase() }),
      api.patch(`${path}/${other.id}`, { name: name.toUpperCase() }),
    ])
    assert.deepEqual(
      refusals.map(({ status, body }) => [status, (body as { path?: string }).path]),
      [...['filter', 'filter', 'sort', 'filter'].map(field => [400, field]), [409, 'name'], [409, 'name']],
    )
  })

  it('403 and 404: who may only read, unknown segments, and those of another organization', async () => {
    const { id } = await bodyOf(save(), 201)
    await bodyOf(
      api.post('/api/access-control/save-role', { name: 'seg', kind: 'api', permissions: { audience: ['read'] } }),
    )
    const { api: reader } = await makeToken(api, { role: 'seg' })
    await bodyOf(reader.get(`${path}/${id}/count`))
    assert.equal((await reader.post(path, { name: 'x', filter: {} })).status, 403)
    assert.equal((await reader.delete(`${path}/${id}`)).status, 403)
    for (const [by, segment] of [
      [api, unknown],
      [stranger, id],
    ] as const) {
      for (const sub of ['', '/count', '/contacts'])
        await refused(by.get(`${path}/${segment}${sub}`), 404, 'segment not found')
      await refused(by.patch(`${path}/${segment}`, { name: 'x' }), 404, 'segment not found')
      await refused(by.delete(`${path}/${segment}`), 404, 'segment not found')
    }
  })
})
