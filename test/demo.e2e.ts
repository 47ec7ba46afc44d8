import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fillDemo } from '@rollcall/local/demo'
import { createClient } from '@rollcall/sdk'
import { addPerson } from './identity/people.ts'
import { startStack, type TestStack } from './stack.ts'

const CONTACTS = 300
let stack: TestStack
before(async () => {
  stack = await startStack()
})
after(() => stack.stop())

test('the demonstration has something of everything, and adds nothing the second time', async () => {
  const { api } = await addPerson(stack, 'owner')
  const rollcall = createClient({ baseUrl: stack.urls[0], token: api.headers.authorization })
  const counts = async () => ({
    contacts: (await rollcall.contacts.list({ limit: 1 })).totalDocs,
    blocked: (await rollcall.contacts.list({ filter: { blocked: true }, limit: 1 })).totalDocs,
    imports: (await rollcall.imports.listJobs({ limit: 1 })).totalDocs,
    lists: (await rollcall.lists.list({ limit: 1 })).totalDocs,
    segments: (await rollcall.segments.list({ limit: 1 })).totalDocs,
    unsubscribed: (await rollcall.contacts.list({ filter: { unsubscribed: true }, limit: 1 })).totalDocs > 0,
    domains: (await rollcall.domains.list({ limit: 1 })).totalDocs,
    senders: (await rollcall.senders.list({ limit: 1 })).totalDocs,
    tokens: (await rollcall.tokens.list({ limit: 1 })).totalDocs,
    roles: (await rollcall.roles.list({ filter: { builtIn: false }, limit: 1 })).totalDocs,
    users: (await rollcall.users.list({ filter: { email: { $regex: '^colleague' } }, limit: 1 })).totalDocs,
    workspaces: (await rollcall.workspaces.list({ limit: 1 })).totalDocs,
  })
  const wanted = {
    contacts: CONTACTS,
    blocked: 3,
    imports: 2,
    lists: 4,
    segments: 2,
    unsubscribed: true,
    domains: 3,
    senders: 2,
    tokens: 3,
    roles: 3,
    users: 5,
    workspaces: 2,
  }
  for (const time of ['first', 'second']) {
    await fillDemo(rollcall, { contacts: CONTACTS })
    assert.deepEqual(await counts(), wanted, `the ${time} time`)
  }
  const { docs } = await rollcall.imports.listJobs({ filter: { fileName: 'fair-visitors.csv' } })
  const { created, updated, failed } = docs[0]!.result
  assert.ok(created > 0 && updated > 0 && failed > 0, JSON.stringify({ created, updated, failed }))
})
