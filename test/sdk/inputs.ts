import assert from 'node:assert/strict'
import type {
  CallName,
  Campaign,
  Client,
  CreatedInvitation,
  Delivery,
  DnsRecord,
  Domain,
  Feature,
  FirstFactor,
  ImportUpload,
  Message,
  RecoveryCodes,
  Role,
  Sender,
  TotpSetup,
  Webhook,
  Workspace,
} from '@rollcall/sdk'
import { createAuthenticator } from '@rollcall/testing/authenticator'
import type { TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import type { MailServer } from '@rollcall/testing/mail-server'
import type { Receiver } from '@rollcall/testing/receiver'
import { type Api, bodyOf, signIn } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { setUpSecondFactor } from '../identity/founder.ts'
import type { Mailbox } from '../identity/mailbox.ts'
import { password, unique } from '../identity/people.ts'
import type { AccountProvider } from '../messaging/mail-account-provider.ts'
import { OWNER, type TestStack } from '../stack.ts'

/** The answers of earlier calls. */
export type Answers = Partial<Record<CallName, unknown>>

/** What calls are made in: the stack, the caller, and doubles of what is outside. */
export type World = {
  stack: TestStack
  rollcall: Client
  /** The caller as a raw client. */
  caller: Api
  email: string
  answers: Answers
  mailbox: Mailbox
  dns: TestDns
  provider: AccountProvider
  receiver: Receiver
  /** A mail server that takes RELAY_ACCOUNT. */
  relay: MailServer
}

/** Account of the mail server that settings are tested with. */
export const RELAY_ACCOUNT = { username: 'rollcall', password: 'password of the mail server' }

/** Domain of senders, stored as verified. */
export const SENDER_DOMAIN = 'example.org'
const PHONE = 'Mozilla/5.0 (Android 16; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0'
const NEW_PASSWORD = 'another password of tests'
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'

/** Calls that are refused here, and how. Every other call succeeds. */
export const refused: Partial<Record<CallName, string>> = {
  'imports.cancel': 'import.finished',
  'campaigns.retry': 'campaign.nothing_failed',
  'bulk.cancelJob': 'bulk.finished',
}

/** Calls that leave no entry in the event log of the organization although they are no GET, and why. */
export const eventless: Partial<Record<CallName, string>> = {
  'authentication.listSignInOrganizations': 'it reads',
  'templates.preview': 'it reads',
  'campaigns.preview': 'it reads',
  'campaigns.countAudience': 'it reads',
  'senders.testSmtp': 'it keeps nothing',
  'authentication.registerClient': 'a client belongs to no organization; its use is session.exchanged',
}

/** Updates whose entries show no old and new values, and why. */
export const changeless: Partial<Record<CallName, string>> = {
  'contacts.block': 'the type says it',
  'contacts.unblock': 'the type says it',
  'users.block': 'the type says it',
  'users.unblock': 'the type says it',
  'users.changeRole': 'its data has the old and the new role',
  'members.update': 'its data has the old and the new role',
}

/** What a call is given where the example of its contract would be refused, or says little. */
export const inputs: Partial<Record<CallName, (world: World) => object | Promise<object>>> = {
  'attributes.create': () => ({ name: 'Plan', slug: 'plan', type: 'enum', options: ['free', 'team'] }),
  'attributes.update': () => ({ name: 'Subscribed plan' }),
  'contacts.list': () => ({ filter: { tags: 'newsletter' }, sort: { createdAt: -1 }, limit: 25 }),
  'contacts.create': () => ({ email: 'alex@example.com', name: 'Alex Example', tags: ['newsletter'] }),
  'contacts.update': () => ({ name: 'Alex B. Example', unsubscribed: true }),
  'contacts.updateAttributes': () => ({ attributes: { plan: 'team', company: null } }),
  'contacts.replaceTags': () => ({ tags: ['newsletter', 'customer'] }),
  'contacts.block': () => ({ reason: 'Asked by phone' }),
  'contacts.linkUser': async world => ({ userId: (await newUser(world)).id }),
  'contacts.export': () => ({ filter: { tags: { $exists: true } }, sort: { createdAt: -1 } }),
  'contacts.getGrowth': () => ({ from: '2026-01-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z', interval: 'week' }),
  'bulk.changeContacts': () => ({
    filter: { tags: 'newsletter' },
    change: { addTags: ['reader'], attributes: { plan: 'team' } },
  }),
  'bulk.deleteContacts': () => ({ emails: ['unknown@example.com'], dryRun: true }),
  'segments.create': () => ({
    name: 'New subscribers',
    filter: { unsubscribed: false, createdAt: { $gte: 'now-30d' } },
    sort: { createdAt: -1 },
  }),
  'segments.update': () => ({ description: 'Who came in the last 30 days' }),
  'segments.listContacts': () => ({ limit: 25 }),
  'lists.create': () => ({ name: 'Product news', description: 'What is new, once a month' }),
  'lists.update': () => ({ description: 'What is new, every month' }),
  'lists.addMembers': () => ({ emails: ['alex@example.com', 'unknown@example.com'] }),
  'lists.removeMembers': () => ({ emails: ['robin@example.com'] }),
  'roles.save': () => ({
    name: 'Importer',
    kind: 'api',
    permissions: { audience: ['read', 'create'], audience_lists: ['read'] },
  }),
  'roles.list': () => ({ filter: { builtIn: false } }),
  'authentication.register': () => ({ name: 'Kim Example', email: 'kim@example.com', password }),
  'authentication.registerClient': () => ({ client_name: 'Nightly sync' }),
  'authentication.login': () => OWNER,
  'authentication.listSignInOrganizations': () => OWNER,
  'authentication.resetPassword': async world => {
    const { email } = await newUser(world)
    const mail = await world.mailbox.next(email, () => world.rollcall.authentication.forgotPassword({ email }))
    return { token: found(/token=([\w-]+)/, mail), password: NEW_PASSWORD }
  },
  'authentication.verifyOtp': async world => {
    const { email } = await newUser(world)
    let requestId = ''
    const mail = await world.mailbox.next(email, async () => {
      requestId = (await world.rollcall.authentication.requestOtp({ email })).requestId
    })
    return { email, code: found(/\b(\d{6})\b/, mail), requestId }
  },
  'authentication.verifyEmail': async world => {
    const { email } = await newUser(world)
    const api = await signIn(fromElsewhere(world.stack.api), email, password)
    const to = `${unique('sam')}@example.com`
    const request = () => bodyOf(fromElsewhere(api).post('/api/me/email', { email: to, password }))
    return { token: found(/token=([\w-]+)/, await world.mailbox.next(to, request)) }
  },
  'authentication.verifyMfa': async world => {
    const { email } = await newUser(world)
    const api = await signIn(fromElsewhere(world.stack.api), email, password)
    const { code } = await setUpSecondFactor(api)
    const { mfaToken } = await world.rollcall.authentication.login({ email, password })
    return { mfaToken: mfaToken!, code: code() }
  },
  'authentication.impersonate': async world => ({ userId: (await newUser(world)).id, reason: 'Ticket 4711' }),
  'authentication.exchangeToken': async ({ rollcall, caller }) => {
    const client = await rollcall.authentication.registerClient({ client_name: 'Nightly sync' })
    return {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: client.client_id,
      client_secret: client.client_secret,
      subject_token: caller.headers.authorization,
      subject_token_type: TOKEN_TYPE,
      scope: 'audience.read',
    }
  },
  'account.update': () => ({ timezone: 'Europe/Berlin', language: 'de-DE' }),
  'account.changePassword': () => ({ currentPassword: password, newPassword: NEW_PASSWORD }),
  'account.changeEmail': ({ answers }) => ({
    email: 'new.address@example.com',
    password: answers['account.changePassword'] ? NEW_PASSWORD : password,
  }),
  'account.confirmTotp': ({ answers }) => ({
    code: createAuthenticator((answers['account.startTotp'] as TotpSetup).secret).next(),
  }),
  'account.renewRecoveryCodes': world => ({ password: NEW_PASSWORD, code: takeRecoveryCode(world) }),
  'account.removeTotp': world => ({ password: NEW_PASSWORD, code: takeRecoveryCode(world) }),
  'settings.update': () => ({ timezone: 'Europe/Berlin', allowedOrigins: ['https://app.example.com'] }),
  'features.create': () => ({ slug: 'new-editor', name: 'New editor', default: false }),
  'features.update': () => ({ roles: { admin: true } }),
  'users.setFeatures': ({ answers }) => ({ features: { [(answers['features.create'] as Feature).slug]: true } }),
  'workspaces.create': () => ({ name: 'Autumn campaign', seats: 40 }),
  'workspaces.update': () => ({ seats: 50 }),
  'members.update': () => ({ role: 'admin' }),
  'users.changeRole': () => ({ role: 'admin' }),
  'members.add': async world => ({ email: (await newUser(world)).email, role: 'user' }),
  'invitations.create': () => ({ email: 'guest@example.com', role: 'user' }),
  'invitations.accept': () => ({ name: 'Guest Example', password: NEW_PASSWORD }),
  'users.create': () => ({ name: 'Jo Example', email: 'jo@example.com', role: 'user' }),
  'users.update': () => ({ name: 'Jo B. Example' }),
  'users.replaceTags': () => ({ tags: ['marketing'] }),
  'tokens.create': () => ({ name: 'Web shop', role: 'admin', expiresAt: '2099-01-01T00:00:00.000Z' }),
  'tokens.update': () => ({ active: false }),
  'tokens.setAllowedIps': () => ({ cidrs: ['192.0.2.0/24'] }),
  'imports.start': ({ answers }) => ({
    importId: (answers['imports.upload'] as ImportUpload).importId,
    mapping: { Email: 'email', Name: 'name' },
    tags: ['newsletter'],
  }),
  'webhooks.create': () => ({
    name: 'Order desk',
    url: 'https://hooks.example.com/rollcall',
    eventTypes: ['contact.created', 'contact.updated'],
  }),
  'webhooks.update': () => ({ eventTypes: ['contact.created'] }),
  'webhooks.test': () => ({ type: 'contact.created' }),
  'webhooks.recover': () => ({ since: new Date(Date.now() - 60_000).toISOString() }),
  'webhooks.getStats': () => ({ hours: 2 }),
  'links.create': () => ({ url: 'https://example.com/sale?utm_source=poster', slug: 'poster', title: 'Poster' }),
  'links.update': () => ({ url: 'https://example.com/autumn' }),
  'links.getClicks': () => ({ from: '2026-01-01T00:00:00.000Z', to: '2026-01-07T00:00:00.000Z', interval: 'day' }),
  'collections.create': () => ({
    name: 'Orders',
    slug: 'orders',
    fields: [
      { slug: 'email', name: 'Email', type: 'email', required: true },
      { slug: 'size', name: 'Size', type: 'enum', options: ['S', 'M', 'L'], default: 'M' },
    ],
  }),
  'collections.update': () => ({ description: 'Shirts for the team' }),
  'entries.create': () => ({ values: { email: 'alex@example.com', size: 'L' } }),
  'entries.list': () => ({ filter: { 'values.size': 'L' }, sort: { createdAt: -1 } }),
  'entries.update': () => ({ values: { size: 'M' } }),
  'entries.export': () => ({ filter: { 'values.size': 'M' } }),
  'events.list': () => ({ filter: { type: 'contact.created' }, limit: 25 }),
  'events.export': () => ({ filter: { type: 'contact.created' } }),
  'campaigns.create': () => ({
    name: 'Spring news',
    subject: 'What is new, {{ contact.name }}',
    preheader: 'Three things for your garden',
    html: '<p>Hello {{ contact.name }}</p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
    ratePerMinute: 600,
  }),
  'campaigns.countAudience': async ({ rollcall }) => ({
    lists: [(await rollcall.lists.create({ name: unique('Readers') })).id],
  }),
  'campaigns.update': () => ({ ratePerMinute: 1200 }),
  'campaigns.schedule': () => ({ at: new Date(Date.now() + 24 * 3_600_000).toISOString() }),
  'campaigns.preview': () => ({}),
  'campaigns.test': () => ({ to: ['alex@example.com'] }),
  'templates.create': () => ({
    name: 'Monthly news',
    subject: 'News for {{ contact.name }}',
    html: '<p>Hello {{ contact.name }}</p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
  }),
  'templates.update': () => ({ description: 'Sent on the first Monday' }),
  'templates.preview': () => ({ data: { offer: 'spring' } }),
  'domains.create': () => ({ domain: 'news.example.com' }),
  'providers.set': () => ({ kind: 'self-hosted' }),
  'suppressions.create': () => ({ email: 'former.customer@example.com', reason: 'Asked by phone' }),
  'senders.create': () => ({ name: 'Rollcall News', ...senderOf('news') }),
  'senders.update': () => ({ name: 'Rollcall' }),
  'senders.share': async world => ({ userIds: [(await newUser(world)).id] }),
  'senders.unshare': async ({ caller, answers }) => {
    const path = `/api/emails/senders/${(answers['senders.create'] as Sender).id}/shared-users`
    return { userIds: (await bodyOf(fromElsewhere(caller).get<Page>(path))).docs.map(({ id }) => id) }
  },
  'senders.transfer': async world => ({ userId: (await newUser(world)).id }),
  'senders.test': () => ({ to: 'alex@example.com' }),
  'senders.testSmtp': ({ relay }) => ({ smtp: { host: 'localhost', port: relay.port, ...RELAY_ACCOUNT } }),
  'messages.send': async world => ({
    to: 'alex@example.com',
    from: await connectedSender(world),
    subject: 'Your order',
    text: 'It is on its way.',
    sendAt: new Date(Date.now() + 3_600_000).toISOString(),
  }),
  'senders.startOauth': async world => ({ sender: (await newSender(world)).id }),
  'senders.finishOauth': async world => consentFor(world, (await newSender(world)).id),
}

/** The path variables of a call, where the latest record would not do. */
export const paths: Partial<Record<CallName, (world: World) => Promise<string[]>>> = {
  'bulk.getJob': async world => [await endedBulkJob(world)],
  'bulk.cancelJob': async world => [await endedBulkJob(world)],
  'bulk.undoJob': async world => [await endedBulkJob(world)],
  'contacts.linkUser': async ({ rollcall }) => [
    (await rollcall.contacts.create({ email: `${unique('contact')}@example.com` })).id,
  ],
  'contacts.erase': async ({ rollcall }) => {
    const { id } = await rollcall.contacts.create({ email: `${unique('contact')}@example.com` })
    await rollcall.contacts.create({ email: `${unique('contact')}@example.com` }) // the latest one, for other calls
    return [id]
  },
  'contacts.listLists': async world => [(await memberOfList(world)).contact],
  'lists.delete': async ({ rollcall }) => [(await rollcall.lists.create({ name: unique('Mistake') })).id],
  'lists.removeMembers': async world => [(await memberOfList(world)).list],
  'lists.listMembers': async world => [(await memberOfList(world)).list],
  'invitations.list': async world => [(await newInvitation(world)) && workspaceOf(world)],
  'members.update': async world => [workspaceOf(world), (await newMember(world)).id],
  'members.remove': async world => [workspaceOf(world), (await newMember(world)).id],
  'users.changeRole': async world => [(await newMember(world)).id],
  'users.listSessions': async world => [(await newMember(world)).id],
  'users.listDevices': async world => [(await newMember(world)).id],
  'users.listActivities': async world => [(await newMember(world)).id],
  'users.listWorkspaces': async world => [(await newMember(world)).id],
  'senders.listSharedUsers': async world => {
    const { id } = await newSender(world)
    await world.rollcall.senders.share(id, { userIds: [(await newUser(world)).id] })
    return [id]
  },
  'roles.get': async ({ rollcall }) => [(await rollcall.roles.list()).docs.find(({ builtIn }) => !builtIn)!.id],
  'roles.delete': async ({ answers }) => [(answers['roles.save'] as Role).id],
  'invitations.preview': async world => [secretOf(await newInvitation(world))],
  'invitations.accept': async world => [secretOf(await newInvitation(world))],
  'invitations.decline': async world => [secretOf(await newInvitation(world))],
  'invitations.revoke': async world => [workspaceOf(world), (await newInvitation(world)).id],
  'account.revokeSession': async world => {
    await signInByPhone(world, world.email, NEW_PASSWORD)
    const { docs } = await world.rollcall.account.listSessions()
    return [docs.find(({ current }) => !current)!.sessionRef]
  },
  'account.revokeDevice': async world => {
    await signInByPhone(world, world.email, NEW_PASSWORD)
    const { docs } = await world.rollcall.account.listDevices()
    return [docs.find(({ current }) => !current)!.deviceId]
  },
  'account.revokeOtherSessions': async world => {
    await signInByPhone(world, world.email, NEW_PASSWORD)
    return []
  },
  'users.resetTotp': async world => {
    const { id, email } = await newUser(world)
    await setUpSecondFactor(await signIn(fromElsewhere(world.stack.api), email, password))
    return [id]
  },
  'users.revokeSession': async world => {
    const { id, email } = await newUser(world)
    await signInByPhone(world, email, password)
    return [id, (await world.rollcall.users.listSessions(id)).docs[0]!.sessionRef]
  },
  'users.revokeDevice': async world => {
    const { id, email } = await newUser(world)
    await signInByPhone(world, email, password)
    return [id, (await world.rollcall.users.listDevices(id)).docs[0]!.deviceId]
  },
  'domains.verify': async ({ answers, dns }) => {
    const { id, sendingRecords } = answers['domains.create'] as Domain
    dns.publish('example.com', sendingRecords.map(zoneRecord))
    return [id]
  },
  'domains.check': async ({ rollcall }) => {
    const { docs } = await rollcall.domains.list({ filter: { domain: 'mail.example.com' } })
    return [docs[0]!.id]
  },
  'senders.transfer': async world => [(await newSender(world)).id],
  'webhooks.test': async world => [(await newWebhook(world)).id],
  'webhooks.recover': async world => [(await newWebhook(world)).id],
  'deliveries.list': async world => [(await newDelivery(world)).endpoint],
  'events.get': async world => [(await newDelivery(world)).event.id],
  'deliveries.get': async world => [(await newDelivery(world)).id],
  'deliveries.replay': async world => [(await newDelivery(world)).id],
  'senders.test': async world => [await connectedSender(world)],
  'campaigns.start': async world => [(await newCampaign(world)).id],
  'campaigns.schedule': async world => [(await newCampaign(world)).id],
  'campaigns.pause': async world => [(await startedCampaign(world)).id],
  'campaigns.resume': async world => {
    const { id } = await startedCampaign(world)
    await world.rollcall.campaigns.pause(id)
    return [id]
  },
  'campaigns.retry': async world => {
    const { id } = await startedCampaign(world)
    await world.rollcall.campaigns.pause(id)
    return [id]
  },
  'campaigns.cancel': async world => [(await startedCampaign(world)).id],
  'campaigns.test': async world => [(await newCampaign(world)).id],
  'campaigns.listRecipients': async world => [(await startedCampaign(world)).id],
  'campaigns.getReport': async world => [(await startedCampaign(world)).id],
  'campaigns.export': async world => [(await startedCampaign(world)).id],
  'messages.get': async ({ answers }) => [(answers['messages.send'] as Message).id],
  'messages.cancel': async ({ answers }) => [(answers['messages.send'] as Message).id],
}

type Page = { docs: { id: string }[] }

function found(pattern: RegExp, text: string): string {
  return pattern.exec(text)?.[1] ?? assert.fail(`${pattern} is not in ${text}`)
}

async function newUser({ stack }: World): Promise<{ id: string; email: string }> {
  const account = { name: 'Sam Example', email: `${unique('sam')}@example.com`, password, role: 'user' }
  return bodyOf(fromElsewhere(stack.owner).post<{ id: string; email: string }>('/api/users', account), 201)
}

/** Creates a user who signed in and is a member of the workspace. */
async function newMember(world: World): Promise<{ id: string }> {
  const user = await newUser(world)
  await signInByPhone(world, user.email, password)
  await world.rollcall.members.add(workspaceOf(world), { email: user.email, role: 'user' })
  return user
}

/** Changes contacts in bulk, and waits until that is done. */
async function endedBulkJob({ rollcall }: World): Promise<string> {
  const change = { filter: { tags: 'newsletter' }, change: { addTags: [unique('tag')] } }
  const { jobId } = await rollcall.bulk.changeContacts(change)
  await eventually('the bulk job ends', async () => (await rollcall.bulk.getJob(jobId)).state === 'completed')
  return jobId
}

/** Adds the first contact to the first list. */
async function memberOfList({ rollcall }: World): Promise<{ list: string; contact: string }> {
  const email = 'robin@example.com'
  const list = (await rollcall.lists.list({ filter: { name: 'Newsletter' } })).docs[0]!.id
  const contact = (await rollcall.contacts.list({ filter: { email } })).docs[0]!.id
  await rollcall.lists.addMembers(list, { emails: [email] })
  return { list, contact }
}

async function signInByPhone(world: World, email: string, by: string): Promise<void> {
  const api = fromElsewhere(world.stack.api).with({ 'user-agent': PHONE })
  const { mfaToken } = await bodyOf(api.post<FirstFactor>('/api/auth/login', { email, password: by }))
  if (mfaToken) await bodyOf(api.post('/api/auth/mfa', { mfaToken, code: takeRecoveryCode(world) }))
}

/** Returns a recovery code of the caller that was not used yet. */
const takeRecoveryCode = ({ answers }: World) => {
  const latest = answers['account.renewRecoveryCodes'] ?? answers['account.confirmTotp']
  return (latest as RecoveryCodes).recoveryCodes.pop()!
}

const workspaceOf = ({ answers }: World) => (answers['workspaces.create'] as Workspace).id

function newInvitation(world: World): Promise<CreatedInvitation> {
  const body = { email: `${unique('guest')}@example.com`, role: 'user' }
  return world.rollcall.invitations.create(workspaceOf(world), body)
}

const secretOf = ({ acceptUrl }: CreatedInvitation) => acceptUrl.split('/').at(-1)!

const senderOf = (name: string) =>
  ({ email: `${name}@${SENDER_DOMAIN}`, delivery: 'oauth', oauth: { provider: 'google' } }) as const

/** Creates a webhook whose endpoint answers. */
function newWebhook({ rollcall, receiver }: World, eventTypes: string[] = []): Promise<Webhook> {
  return rollcall.webhooks.create({ name: 'Order desk', url: receiver.url, eventTypes })
}

/** Delivers an event to a new webhook. */
async function newDelivery(world: World): Promise<Delivery> {
  const { rollcall } = world
  const { id } = await newWebhook(world, ['contact.created'])
  await rollcall.contacts.create({ email: `${unique('contact')}@example.com`, name: 'Kim Example' })
  return eventually('the event is delivered', async () => {
    const [delivery] = (await rollcall.deliveries.list(id)).docs
    return delivery?.state === 'delivered' && delivery
  })
}

function newSender({ rollcall }: World): Promise<Sender> {
  return rollcall.senders.create({ name: 'Rollcall', ...senderOf(unique('sender')) })
}

/** Creates a campaign that is ready to start. It sends slowly, so that it can be paused. */
async function newCampaign(world: World): Promise<Campaign> {
  const { rollcall } = world
  const sender = await connectedSender(world)
  const { id: list } = await rollcall.lists.create({ name: unique('Readers') })
  const emails = [`${unique('reader')}@example.com`, `${unique('reader')}@example.com`]
  for (const email of emails) await rollcall.contacts.create({ email, name: 'Kim Example' })
  await rollcall.lists.addMembers(list, { emails })
  return rollcall.campaigns.create({
    name: 'Spring news',
    subject: 'What is new',
    html: '<p>Hello {{ contact.name }}</p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
    sender,
    lists: [list],
    ratePerMinute: 1,
  })
}

async function startedCampaign(world: World): Promise<Campaign> {
  return world.rollcall.campaigns.start((await newCampaign(world)).id)
}

/** Creates a sender whose account is connected, and returns its id. */
async function connectedSender(world: World): Promise<string> {
  const { id } = await newSender(world)
  await world.rollcall.senders.finishOauth('google', await consentFor(world, id))
  return id
}

/** Returns what the provider sends back after the consent to connect a sender. */
async function consentFor({ rollcall, stack, provider }: World, sender: string) {
  const { url } = await rollcall.senders.startOauth('google', { sender })
  const { headers } = await fetch(new URL(provider.consent(url), stack.urls[0]), { redirect: 'manual' })
  const { searchParams } = new URL(headers.get('location')!)
  const read = (name: string) => searchParams.get(name) ?? ''
  return { code: read('code'), state: read('state'), iss: read('iss') }
}

function zoneRecord({ type, name, value, priority }: DnsRecord) {
  if (type === 'TXT') return { type, name, data: value.match(/.{1,255}/g) }
  return { type, name, data: type === 'MX' ? { preference: priority, exchange: value } : value }
}
