import { randomBytes } from 'node:crypto'
import type { Client, DnsRecord, ImportUpload } from '@rollcall/sdk'
import { LOCAL_ZONE } from '../name-server.ts'
import { addCollections, addLinks } from './content.ts'
import { addCampaigns, addMails } from './mails.ts'
import { ALL, addMissing } from './missing.ts'
import { type Person, PLANS, personAt } from './people.ts'

/** Where the demonstration is filled in. */
export type DemoOptions = {
  contacts?: number
  /** URL of the stack, for its public pages. */
  baseUrl: string
  /** Publishes DNS records of domains of the local zone. */
  publish: (records: readonly DnsRecord[]) => void
  /** Folder in which the stack keeps its mails; some of them are read. Without one they would be sent, so there are none. */
  mailFolder?: string | undefined
  log?: (line: string) => void
}

const DAY_MS = 24 * 60 * 60 * 1000
/** Share of the contacts that the second file brings. */
const FAIR_SHARE = 0.2
/** Rows of the second file per one that is wrong, and per one whose contact is known. */
const WRONG_EVERY = 17
const KNOWN_EVERY = 5

const MAPPING = {
  Email: 'email',
  Name: 'name',
  Company: 'company',
  Plan: 'plan',
  City: 'city',
  Seats: 'seats',
  Since: 'customer_since',
  Newsletter: 'newsletter',
  Unsubscribed: 'unsubscribed',
}

/**
 * Fills the organization of a client with data to look at: attributes, contacts by two imports (one with errors), lists,
 * segments, domains of which two are verified, senders, mails, a campaign that people read, links, a collection with a
 * form, roles, tokens, users, workspaces and a webhook. Adds only what is missing, so it can run again.
 */
export async function fillDemo(
  rollcall: Client,
  { contacts = 5000, baseUrl, publish, mailFolder, log = () => {} }: DemoOptions,
): Promise<void> {
  const steps: [what: string, run: () => unknown][] = [
    ['attributes', () => addAttributes(rollcall)],
    [`${contacts} contacts`, () => importContacts(rollcall, contacts)],
    ['lists and segments', () => addLists(rollcall).then(() => addSegments(rollcall))],
    ['domains and senders', () => addSenders(rollcall, publish)],
    ['templates and mails', () => mailFolder && addMails(rollcall)],
    ['links', () => addLinks(rollcall)],
    ['a collection and its form', () => addCollections(rollcall, baseUrl)],
    ['roles and tokens', () => addTokens(rollcall)],
    ['users and workspaces', () => addUsers(rollcall)],
    ['a webhook', () => addWebhook(rollcall)],
    ['campaigns', () => mailFolder && addCampaigns(rollcall, mailFolder)],
  ]
  for (const [what, run] of steps) {
    await run()
    log(what)
  }
}

function addAttributes({ attributes }: Client): Promise<void> {
  const wanted = [
    { name: 'Company', slug: 'company', type: 'string' },
    { name: 'Plan', slug: 'plan', type: 'enum', options: PLANS },
    { name: 'City', slug: 'city', type: 'string' },
    { name: 'Seats', slug: 'seats', type: 'number' },
    { name: 'Customer since', slug: 'customer_since', type: 'date' },
    { name: 'Reads the newsletter', slug: 'newsletter', type: 'boolean' },
  ] as const
  return addMissing(attributes.list(ALL), 'slug', wanted, ({ ...body }) =>
    attributes.create({ ...body, ...('options' in body && { options: [...body.options] }) }),
  )
}

async function importContacts(rollcall: Client, contacts: number): Promise<void> {
  const customers = Math.round(contacts * (1 - FAIR_SHARE))
  const rows = Array.from({ length: customers }, (_, number) => rowOf(personAt(number)))
  await importOnce(rollcall, 'customers.csv', rows, ['customer'])
  await importOnce(rollcall, 'fair-visitors.csv', [...fairRows(customers, contacts)], ['fair 2026'])
}

/** Yields the rows of a file as people write them: some are wrong, some are of known contacts. */
function* fairRows(from: number, to: number): Generator<string> {
  for (let number = from; number < to; number++) {
    const person = personAt(number)
    yield rowOf(person)
    if (number % WRONG_EVERY === 0) yield rowOf({ ...person, email: person.email.replace('@', ' at ') })
    if (number % WRONG_EVERY === 1) yield rowOf({ ...person, email: `second.${person.email}`, plan: 'unlimited' })
    if (number % KNOWN_EVERY === 0) yield rowOf({ ...personAt(number - from), city: 'Lisbon' })
  }
}

function rowOf(person: Person): string {
  const { email, name, company, plan, city, seats, since, newsletter, unsubscribed } = person
  return [email, name, company, plan, city, seats, since, newsletter, unsubscribed].join(',')
}

/** Imports a file unless an import of its name has completed. */
async function importOnce({ imports }: Client, fileName: string, rows: string[], tags: string[]): Promise<void> {
  const { totalDocs } = await imports.listJobs({ filter: { fileName, kind: 'import', state: 'completed' }, limit: 1 })
  if (totalDocs > 0) return
  const text = [Object.keys(MAPPING).join(','), ...rows, ''].join('\n')
  const { importId }: ImportUpload = await imports.upload(new File([text], fileName))
  const { jobId } = await imports.start({ importId, mapping: MAPPING, tags })
  await imports.wait(jobId)
}

async function addLists({ bulk, contacts, lists }: Client): Promise<void> {
  const wanted = [
    { name: 'Newsletter', description: 'Once a month', filter: { 'attributes.newsletter': true } },
    { name: 'Large customers', description: 'For personal mail', filter: { 'attributes.seats': { $gte: 50 } } },
    { name: 'Fair 2026', description: 'Met at the fair', filter: { tags: 'fair 2026' } },
    { name: 'Winter sale 2025', description: 'Over', filter: { 'attributes.plan': 'free' } },
  ] as const
  await addMissing(lists.list(ALL), 'name', wanted, async ({ name, description, filter }) => {
    const { id } = await lists.create({ name, description })
    const { jobId } = await lists.addMembers(id, { filter })
    if (jobId !== undefined) await bulk.wait(jobId)
    if (description === 'Over') await lists.update(id, { archived: true })
  })
  for (const number of [3, 14, 159]) {
    const { docs } = await contacts.list({ filter: { email: personAt(number).email }, limit: 1 })
    if (docs[0] && !docs[0].blocked) await contacts.block(docs[0].id, { reason: 'Asked not to be written to' })
  }
}

function addSegments({ segments }: Client): Promise<void> {
  const wanted = [
    { name: 'Trial users in Portugal', filter: { 'attributes.plan': 'free', 'attributes.city': 'Porto' } },
    { name: 'Business, many seats', filter: { 'attributes.plan': 'business', 'attributes.seats': { $gte: 100 } } },
  ] as const
  return addMissing(segments.list(ALL), 'name', wanted, body => segments.create(body))
}

/**
 * Adds two verified domains, the key of one of which is being replaced; one whose records have mistakes; and one that was
 * never checked.
 */
async function addSenders({ domains, senders, providers }: Client, publish: DemoOptions['publish']): Promise<void> {
  if (!(await providers.get()).configured) await providers.set({ kind: 'self-hosted' })
  const wanted = ['news', 'offers', 'shop', 'mail'].map(name => ({ domain: `${name}.${LOCAL_ZONE}` }))
  await addMissing(domains.list(ALL), 'domain', wanted, async ({ domain }) => {
    const { id, sendingRecords, receivingRecords } = await domains.create({ domain })
    if (domain.startsWith('mail')) return
    const records = [...sendingRecords, ...receivingRecords]
    publish(domain.startsWith('shop') ? records.map(withMistake) : records)
    await (domain.startsWith('shop') ? domains.check(id) : domains.verify(id))
    if (domain.startsWith('offers')) await domains.rotateDkim(id)
  })
  const addresses = [
    { name: 'Newsletter', email: `hello@news.${LOCAL_ZONE}`, delivery: 'hosted' },
    { name: 'Support', email: 'support@mail.example.org', delivery: 'oauth', oauth: { provider: 'microsoft' } },
  ] as const
  await addMissing(senders.list(ALL), 'email', addresses, async body => {
    const { id } = await senders.create(body)
    if (body.delivery === 'hosted') await senders.setDefault(id)
  })
}

/** The mistakes that people make: a key at a name that has the zone twice, an SPF record of another server. */
function withMistake(record: DnsRecord): DnsRecord {
  if (record.purpose === 'dkim') return { ...record, name: `${record.name}.${LOCAL_ZONE}` }
  return { ...record, value: record.value.replace(/include:\S+/, 'include:_spf.example.net') }
}

async function addTokens({ roles, tokens }: Client): Promise<void> {
  const wanted = [
    { name: 'Importer', kind: 'api', permissions: { audience: ['read', 'create'], audience_attributes: ['read'] } },
    { name: 'Reporting', kind: 'api', permissions: { audience: ['read'], audience_lists: ['read'] } },
    {
      name: 'Marketing',
      kind: 'user',
      permissions: { audience: ['read', 'create', 'update'], audience_lists: ['read', 'create', 'update', 'delete'] },
    },
  ] as const
  await addMissing(roles.list(ALL), 'name', wanted, body => roles.save(body))
  const programs = [
    { name: 'Nightly import', role: 'Importer' },
    { name: 'Dashboard', role: 'Reporting', expiresAt: new Date(Date.now() + 10 * DAY_MS).toISOString() },
    { name: 'Old web shop', role: 'Reporting' },
  ]
  await addMissing(tokens.list(ALL), 'name', programs, async body => {
    const { id } = await tokens.create(body)
    if (body.name === 'Nightly import') await tokens.setAllowedIps(id, { cidrs: ['192.0.2.0/24'] })
    if (body.name === 'Old web shop') await tokens.update(id, { active: false })
  })
}

async function addUsers({ users, workspaces, members }: Client): Promise<void> {
  const roles = ['admin', 'Marketing', 'Marketing', 'user', 'user']
  const people = roles.map((role, at) => ({
    name: personAt(90_000 + at).name,
    email: `colleague.${at + 1}@example.com`,
    role,
  }))
  await addMissing(users.list(ALL), 'email', people, body =>
    users.create({ ...body, password: randomBytes(12).toString('base64url') }),
  )
  const { docs } = await users.list({ filter: { email: people[4]!.email }, limit: 1 })
  if (docs[0] && !docs[0].blocked) await users.block(docs[0].id)
  const groups = [{ name: 'Autumn campaign', seats: 5 }, { name: 'Translations' }]
  await addMissing(workspaces.list(ALL), 'name', groups, async body => {
    const { id } = await workspaces.create(body)
    for (const { email } of people.slice(0, 3)) await members.add(id, { email, role: 'user' })
  })
}

/** Adds an endpoint that is off, because nobody listens there. */
function addWebhook({ webhooks }: Client): Promise<void> {
  const body = {
    name: 'Web shop',
    url: 'https://shop.example.com/hooks/rollcall',
    eventTypes: ['contact.created', 'contact.unsubscribed', 'email.bounced'],
    active: false,
  }
  return addMissing(webhooks.list(ALL), 'name', [body], each => webhooks.create(each))
}
