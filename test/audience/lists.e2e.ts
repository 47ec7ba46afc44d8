import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBus, topics } from '@rollcall/bus'
import { createLogger, type Event } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { importFile } from '../import/import-job.ts'
import { startStack, type TestStack } from '../stack.ts'

type List = { id: string; name: string; archived: boolean; memberCount: number; activeCount: number }
type Contact = { id: string; email: string; name: string; blocked: boolean; unsubscribed: boolean }
type Page<T> = { docs: T[]; totalDocs: number; nextPage: number | null }
type Added = { added: number; alreadyMember: number; notFound: number; jobId?: string }

/** Four steps of the job that adds them. */
const contactCount = 2000
const kills = 2
const unknown = 'f'.repeat(24)
const updated = { success: true, message: 'updated' }
const trigger = 'triggers.audience.added_to_list'

let stack: TestStack
let api: Api
/** A client of another organization. */
let stranger: Api
let events: Awaited<ReturnType<typeof followEvents>>
let count = 0

before(async () => {
  stack = await startStack({ processes: ['audience'], settings: { REGISTRATION: 'open' } })
  api = stack.owner
  const person = {
    name: 'Person One',
    email: 'other@example.com',
    password: 'made for tests only',
    organization: 'Other',
  }
  stranger = stack.api.as((await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', person), 201)).token)
  events = followEvents()
})
after(async () => {
  await events?.close()
  await stack?.stop()
})

/** Collects every event of the audience, without repeated deliveries. */
function followEvents() {
  const logger = createLogger({ service: 'test', level: 'silent' })
  const { KAFKA_BROKERS } = stack.backing
  const bus = createBus({ brokers: KAFKA_BROKERS.split(','), clientId: 'test', logger, topicPrefix: stack.namespace })
  const seen = new Map<string, Event>()
  bus.consume({ group: 'test', topics: [topics.audience], handle: async event => void seen.set(event.id, event) })
  const additions = (list: string) =>
    [...seen.values()].filter(({ type, data }) => type === trigger && data.listId === list)
  return { additions, close: bus.close }
}

const newName = () => `List ${++count}`
const newEmail = () => `member${++count}@example.com`
const create = (body: object = {}, by = api) =>
  bodyOf(by.post<List>('/api/audience-lists', { name: newName(), ...body }), 201)
const get = (id: string, by = api) => bodyOf(by.get<List>(`/api/audience-lists/${id}`))
const newContact = (body: object = {}) =>
  bodyOf(api.post<Contact>('/api/audience', { email: newEmail(), ...body }), 201)
const add = (id: string, body: object, by = api) => bodyOf(by.post<Added>(`/api/audience-lists/${id}/contacts`, body))
const remove = (id: string, body: object) =>
  bodyOf(api.delete<{ removed: number }>(`/api/audience-lists/${id}/contacts`, body))
const members = (id: string, query: object = {}) =>
  bodyOf(api.get<Page<Contact>>(`/api/audience-lists/${id}/contacts`, { ...query }))
const countsOf = async (id: string, by = api) => {
  const { memberCount, activeCount } = await get(id, by)
  return [memberCount, activeCount]
}
const until = (condition: () => boolean | Promise<boolean>) =>
  eventually(String(condition), condition, { withinMs: 120_000 })
const refused = async (answer: Promise<Answer<unknown>>, status: number, message: string, path?: string) => {
  const { status: actual, body, text } = await answer
  assert.equal(actual, status, text)
  assert.deepEqual(body, { error: true, message, ...(path && { path }) })
}

describe('audience lists: 200 and 201', () => {
  it('a list is created, read, updated and deleted; its contacts stay', async () => {
    const list = await create({ description: 'Weekly', tags: ['a'] })
    assert.deepEqual(await get(list.id), list)
    const { email, id } = await newContact()
    await add(list.id, { contactIds: [id] })
    const changes = { name: newName(), description: '', tags: [], archived: true }
    assert.deepEqual(await bodyOf(api.patch(`/api/audience-lists/${list.id}`, changes)), updated)
    const deleted = await bodyOf(api.delete<List>(`/api/audience-lists/${list.id}`))
    assert.deepEqual([deleted.name, deleted.archived, deleted.memberCount], [changes.name, true, 1])
    assert.equal((await bodyOf(api.get<Contact>(`/api/audience/${id}`))).email, email)
    assert.deepEqual((await bodyOf(api.get<Page<object>>(`/api/audience/${id}/lists`))).docs, [])
  })

  it('members are added and removed by id, by email and by filter, and the answers count them', async () => {
    const { id } = await create()
    const tag = newName()
    const [one, two, three] = [await newContact(), await newContact({ tags: [tag] }), await newContact({ tags: [tag] })]
    const counts = (added: number, alreadyMember: number, notFound: number) => ({ added, alreadyMember, notFound })
    assert.deepEqual(await add(id, { contactIds: [one.id, unknown] }), counts(1, 0, 1))
    const emails = [one.email.toUpperCase(), two.email, 'nobody@example.com']
    assert.deepEqual(await add(id, { emails }), counts(1, 1, 1))
    assert.deepEqual(await add(id, { filter: { tags: tag } }), counts(1, 1, 0))
    assert.deepEqual(await add(id, { filter: { tags: 'nobody has this' } }), counts(0, 0, 0))
    const { docs, totalDocs } = await members(id)
    assert.deepEqual([docs.map(({ email }) => email), totalDocs], [[three, two, one].map(({ email }) => email), 3])
    assert.deepEqual(await remove(id, { filter: { tags: tag } }), { removed: 2 })
    assert.deepEqual(await remove(id, { contactIds: [one.id, two.id] }), { removed: 1 })
    assert.deepEqual(await countsOf(id), [0, 0])
  })

  it('the counts follow opt-outs, blocks and deletions', async () => {
    const { id } = await create()
    const [one, two] = [await newContact(), await newContact({ unsubscribed: true })]
    await add(id, { contactIds: [one.id, two.id] })
    assert.deepEqual(await countsOf(id), [2, 1])
    await bodyOf(api.patch(`/api/audience/${one.id}/block`, {}))
    assert.deepEqual(await countsOf(id), [2, 0])
    await bodyOf(api.patch(`/api/audience/${one.id}/unblock`, {}))
    await bodyOf(api.patch(`/api/audience/${two.id}`, { unsubscribed: false }))
    assert.deepEqual(await countsOf(id), [2, 2])
    await bodyOf(api.delete(`/api/audience/${two.id}`))
    assert.deepEqual(await countsOf(id), [1, 1])
  })

  it('the trigger fires once for each contact newly added', async () => {
    const { id } = await create()
    const one = await newContact()
    await Promise.all(Array.from({ length: 8 }, () => add(id, { contactIds: [one.id] })))
    await until(() => events.additions(id).length > 0)
    await remove(id, { emails: [one.email] })
    await add(id, { emails: [one.email] })
    await until(() => events.additions(id).length > 1)
    assert.deepEqual(
      events.additions(id).map(({ data }) => [data.contactId, data.source]),
      [
        [one.id, 'api'],
        [one.id, 'api'],
      ],
    )
  })

  it('a contact shows the lists it is on', async () => {
    const { id, name } = await create()
    const one = await newContact()
    await add(id, { contactIds: [one.id] })
    type Line = { list: { _id: string; name: string }; addedAt: string; addedBy: { kind: string }; source: string }
    const { docs } = await bodyOf(api.get<Page<Line>>(`/api/audience/${one.id}/lists`))
    assert.deepEqual(
      docs.map(({ list, addedBy, source }) => [list, addedBy.kind, source]),
      [[{ _id: id, name }, 'user', 'api']],
    )
  })

  it('members are paged, filtered and sorted; lists too', async () => {
    const { id, name } = await create()
    const tag = newName()
    for (const name of ['b', 'c', 'a']) await newContact({ name, tags: [tag] })
    await add(id, { filter: { tags: tag } })
    const names = async (query: object) => (await members(id, query)).docs.map(({ name }) => name)
    assert.deepEqual(await names({ sort: { name: -1 }, $limit: 2 }), ['c', 'b'])
    assert.deepEqual(await names({ filter: { name: 'a' } }), ['a'])
    const all = await bodyOf(api.get<Contact[]>(`/api/audience-lists/${id}/contacts`, { pagination: 'false' }))
    assert.equal(all.length, 3)
    const found = await bodyOf(api.get<Page<List>>('/api/audience-lists', { filter: { name, memberCount: 3 } }))
    assert.deepEqual(
      found.docs.map(({ id }) => id),
      [id],
    )
  })
})

describe('audience lists: 400', () => {
  const bodies: [what: string, body: object, message: string, path: string][] = [
    ['no selector', {}, 'missing field -> contactIds', 'contactIds'],
    ['two selectors', { contactIds: [unknown], emails: ['a@example.com'] }, 'extra field -> emails', 'emails'],
    ['an empty selector beside another', { contactIds: [], filter: {} }, 'empty array -> contactIds', 'contactIds'],
    ['no ids', { contactIds: [] }, 'empty array -> contactIds', 'contactIds'],
    ['no emails', { emails: [] }, 'empty array -> emails', 'emails'],
    ['a malformed id', { contactIds: ['x'] }, 'invalid field -> contactIds.0', 'contactIds.0'],
    ['an email that is no text', { emails: [1] }, 'invalid field -> emails.0', 'emails.0'],
    [
      'too many emails',
      { emails: Array.from({ length: 10_001 }, () => 'a@example.com') },
      'invalid field -> emails',
      'emails',
    ],
    ['a filter that is no object', { filter: 'x' }, 'invalid field -> filter', 'filter'],
    ['a filter by an unknown field', { filter: { secret: 1 } }, 'invalid field -> filter', 'filter'],
    ['a filter by a wrong value', { filter: { createdAt: 'soon' } }, 'invalid field -> filter', 'filter'],
    ['an unknown selector', { all: true }, 'extra field -> all', 'all'],
  ]
  for (const [what, body, message, path] of bodies)
    it(`${what} adds and removes nobody`, async () => {
      const { id } = await create()
      for (const method of ['post', 'delete'] as const) {
        const answer = await api[method]<{ message: string; path: string }>(`/api/audience-lists/${id}/contacts`, body)
        assert.equal(answer.status, 400, answer.text)
        assert.ok(answer.body.message.startsWith(message), answer.body.message)
        assert.equal(answer.body.path, path)
      }
      assert.deepEqual(await countsOf(id), [0, 0])
    })

  const fields: [field: string, value: unknown][] = [
    ['name', ''],
    ['name', 7],
    ['name', 'x'.repeat(101)],
    ['description', 7],
    ['description', 'x'.repeat(1001)],
    ['tags', 'a'],
    ['tags', Array.from({ length: 101 }, (_, index) => `t${index}`)],
    ['archived', 'yes'],
  ]
  for (const [field, value] of fields)
    it(`${field} cannot be ${JSON.stringify(value).slice(0, 20)}`, async () => {
      const { id } = await create()
      const { status, body } = await api.patch<{ path: string }>(`/api/audience-lists/${id}`, { [field]: value })
      assert.deepEqual([status, body.path], [400, field])
      if (field === 'archived') return
      const attempt = await api.post<{ path: string }>('/api/audience-lists', { name: newName(), [field]: value })
      assert.deepEqual([attempt.status, attempt.body.path], [400, field])
    })

  it('clients cannot set counts, and a list needs a name', async () => {
    await refused(api.post('/api/audience-lists', {}), 400, 'missing field -> name', 'name')
    const body = { name: newName(), memberCount: 7 }
    await refused(api.post('/api/audience-lists', body), 400, 'extra field -> memberCount', 'memberCount')
  })
})

describe('audience lists: 403', () => {
  it('who may only read can change neither lists nor members', async () => {
    const { id } = await create()
    const role = { name: 'list readers', kind: 'api', permissions: { audience_lists: ['read'], audience: ['read'] } }
    await bodyOf(api.post('/api/access-control/save-role', role))
    const { api: reader } = await makeToken(api, { role: 'list readers' })
    await bodyOf(reader.get(`/api/audience-lists/${id}/contacts`))
    for (const attempt of [
      reader.post('/api/audience-lists', { name: newName() }),
      reader.patch(`/api/audience-lists/${id}`, { archived: true }),
      reader.delete(`/api/audience-lists/${id}`),
      reader.post(`/api/audience-lists/${id}/contacts`, { filter: {} }),
      reader.delete(`/api/audience-lists/${id}/contacts`, { filter: {} }),
    ])
      assert.equal((await attempt).status, 403)
  })
})

describe('audience lists: 404', () => {
  it('an unknown list and one of another organization are answered alike', async () => {
    const { id } = await create()
    for (const [by, list] of [
      [api, unknown],
      [stranger, id],
    ] as const) {
      const path = `/api/audience-lists/${list}`
      for (const attempt of [
        by.get(path),
        by.patch(path, { archived: true }),
        by.delete(path),
        by.get(`${path}/contacts`),
        by.post(`${path}/contacts`, { filter: {} }),
        by.post(`${path}/contacts`, { emails: ['a@example.com'] }),
        by.delete(`${path}/contacts`, { filter: {} }),
      ])
        await refused(attempt, 404, 'list not found')
    }
  })

  it('contacts of another organization are not found', async () => {
    const { id } = await create({}, stranger)
    const one = await newContact()
    assert.deepEqual(await add(id, { contactIds: [one.id] }, stranger), { added: 0, alreadyMember: 0, notFound: 1 })
  })
})

describe('audience lists: 409', () => {
  it('a name is unique in its organization, whatever its case', async () => {
    const { name } = await create()
    const other = await create()
    await refused(api.post('/api/audience-lists', { name: name.toUpperCase() }), 409, 'duplicate -> name', 'name')
    await refused(api.patch(`/api/audience-lists/${other.id}`, { name }), 409, 'duplicate -> name', 'name')
    await create({ name }, stranger)
  })

  it('an archived list takes no more contacts', async () => {
    const { id } = await create()
    const one = await newContact()
    await bodyOf(api.patch(`/api/audience-lists/${id}`, { archived: true }))
    for (const body of [{ contactIds: [one.id] }, { emails: [one.email] }, { filter: {} }]) {
      const { status } = await api.post(`/api/audience-lists/${id}/contacts`, body)
      assert.equal(status, 409)
    }
    assert.deepEqual(await countsOf(id), [0, 0])
  })
})

describe('audience lists: kill -9', () => {
  it('adding by filter has the same outcome if its process is killed', async () => {
    const file = [
      'email,name,unsubscribed',
      ...Array.from({ length: contactCount }, (_, index) => `k${index}@example.com,Name ${index},${index % 7 === 0}`),
    ].join('\n')
    for (const by of [api, stranger]) await importFile(by, file)
    const filter = { name: { $regex: '^Name' } }
    const [list, calm] = [await create(), await create({}, stranger)]
    const audience = stack.instances('audience')[0]!

    const pathOf = (id: string) => `/api/audience-lists/${id}/contacts`
    /** Adds all and returns the numbers: those of the answer, or of the job that it names. */
    const addAll = async (by: Api, id: string): Promise<Added> => {
      const keyed = by.with({ 'idempotency-key': `add-to-${id}` })
      const { status, body } = await keyed.post<Added>(pathOf(id), { filter })
      if (status === 200) return body
      let jobId = body.jobId
      if (status === 202) {
        const again = await keyed.post<Added>(pathOf(id), { filter })
        assert.deepEqual([again.status, again.body, again.headers.get('idempotency-replayed')], [202, body, 'true'])
      } else {
        assert.equal(status, 503) // killed before it answered
        await until(async () => {
          const jobs = await by.get<{ docs: { id: string }[] }>('/api/audience/bulk/jobs')
          jobId = jobs.body.docs?.[0]?.id
          return jobId !== undefined
        })
      }
      let result: Added | undefined
      await until(async () => {
        const job = await by.get<{ state: string; result: Added }>(`/api/audience/bulk/${jobId}`)
        result = job.body.result
        return job.status === 200 && job.body.state === 'completed'
      })
      const { added, alreadyMember, notFound } = result!
      return { added, alreadyMember, notFound }
    }
    const added = addAll(api, list.id)
    for (let kill = 1; kill <= kills; kill++) {
      await until(async () => {
        const answer = await api.get<List>(`/api/audience-lists/${list.id}`)
        return answer.status === 200 && answer.body.memberCount > ((kill - 1) * contactCount) / (kills + 1)
      })
      await audience.kill()
      await audience.start()
    }
    const whole = { added: contactCount, alreadyMember: 0, notFound: 0 }
    assert.deepEqual(await added, whole)
    assert.deepEqual(await addAll(stranger, calm.id), whole)

    assert.deepEqual(await countsOf(list.id), await countsOf(calm.id, stranger))
    assert.equal((await members(list.id)).totalDocs, contactCount)
    const query = { pagination: 'false', projection: { email: 1 } }
    const all = await bodyOf(api.get<Contact[]>(pathOf(list.id), query))
    assert.equal(new Set(all.map(({ email }) => email)).size, contactCount)
    for (const id of [list.id, calm.id]) await until(() => events.additions(id).length >= contactCount)
    await sleep(500) // for an unexpected event
    for (const id of [list.id, calm.id]) {
      const additions = events.additions(id)
      assert.equal(additions.length, contactCount)
      assert.equal(new Set(additions.map(({ data }) => data.contactId)).size, contactCount)
    }
  })
})
