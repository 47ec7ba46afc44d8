import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type NameServer, publishLocally, startNameServer } from '@rollcall/local'
import { fillDemo } from '@rollcall/local/demo'
import { createClient } from '@rollcall/sdk'
import { eventually } from '@rollcall/testing/eventually'
import { type Mailbox, openMailbox } from './identity/mailbox.ts'
import { addPerson } from './identity/people.ts'
import { startStack, type TestStack } from './stack.ts'

const CONTACTS = 300
/** Contacts by the form of the collection. */
const SUBMISSIONS = 6
let stack: TestStack
let mailbox: Mailbox
let names: NameServer
before(async () => {
  mailbox = await openMailbox()
  names = await startNameServer(mailbox.settings.MAIL_DIR)
  stack = await startStack({ settings: { ...mailbox.settings, DNS_ZONES: names.zone } })
})
after(async () => {
  await stack?.stop()
  await names?.stop()
  await mailbox?.remove()
})

test('the demonstration has something of everything, and adds nothing the second time', async () => {
  const { api } = await addPerson(stack, 'owner')
  const rollcall = createClient({ baseUrl: stack.urls[0], token: api.headers.authorization })
  const mailFolder = mailbox.settings.MAIL_DIR
  const counts = async () => ({
    contacts: (await rollcall.contacts.list({ limit: 1 })).totalDocs,
    blocked: (await rollcall.contacts.list({ filter: { blocked: true }, limit: 1 })).totalDocs,
    imports: (await rollcall.imports.listJobs({ limit: 1 })).totalDocs,
    lists: (await rollcall.lists.list({ limit: 1 })).totalDocs,
    segments: (await rollcall.segments.list({ limit: 1 })).totalDocs,
    unsubscribed: (await rollcall.contacts.list({ filter: { unsubscribed: true }, limit: 1 })).totalDocs > 0,
    domains: (await rollcall.domains.list({ sort: { domain: 1 } })).docs.map(({ status }) => status),
    senders: (await rollcall.senders.list({ limit: 1 })).totalDocs,
    tokens: (await rollcall.tokens.list({ limit: 1 })).totalDocs,
    roles: (await rollcall.roles.list({ filter: { builtIn: false }, limit: 1 })).totalDocs,
    users: (await rollcall.users.list({ filter: { email: { $regex: '^colleague' } }, limit: 1 })).totalDocs,
    templates: (await rollcall.templates.list({ limit: 1 })).totalDocs,
    messages: (await rollcall.messages.list({ filter: { kind: 'transactional' }, limit: 1 })).totalDocs,
    campaigns: (await rollcall.campaigns.list({ sort: { name: 1 } })).docs.map(({ status }) => status),
    links: (await rollcall.links.list({ limit: 1 })).totalDocs,
    collections: (await rollcall.collections.list()).docs.map(({ entryCount }) => entryCount),
    webhooks: (await rollcall.webhooks.list({ limit: 1 })).totalDocs,
    workspaces: (await rollcall.workspaces.list({ limit: 1 })).totalDocs,
  })
  const wanted = {
    contacts: CONTACTS + SUBMISSIONS,
    blocked: 3,
    imports: 2,
    lists: 4,
    segments: 2,
    unsubscribed: true,
    domains: ['pending', 'verified', 'verified', 'pending'],
    senders: 2,
    tokens: 3,
    roles: 3,
    users: 5,
    templates: 2,
    messages: 3,
    campaigns: ['sent', 'scheduled', 'draft'],
    links: 3,
    collections: [SUBMISSIONS],
    webhooks: 1,
    workspaces: 2,
  }
  for (const time of ['first', 'second']) {
    await fillDemo(rollcall, {
      contacts: CONTACTS,
      baseUrl: stack.urls[0]!,
      publish: records => publishLocally(mailFolder, records),
      mailFolder,
    })
    await eventually('submissions have made contacts', async () => (await counts()).contacts === wanted.contacts)
    assert.deepEqual(await counts(), wanted, `the ${time} time`)
  }
  const [campaign] = (await rollcall.campaigns.list({ filter: { status: 'sent' } })).docs
  const report = await eventually('the campaign was read', async () => {
    const { counts } = await rollcall.campaigns.getReport(campaign!._id)
    return counts.opened > 0 && counts.clicked > 0 && counts.unsubscribed === 1 && counts
  })
  assert.equal(report.failed, 0)
  const { docs } = await rollcall.imports.listJobs({ filter: { fileName: 'fair-visitors.csv' } })
  const { created, updated, failed } = docs[0]!.result
  assert.ok(created > 0 && updated > 0 && failed > 0, JSON.stringify({ created, updated, failed }))
})
