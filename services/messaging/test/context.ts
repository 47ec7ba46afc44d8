import { randomBytes } from 'node:crypto'
import { AppError, emailKeyOf } from '@rollcall/contract'
import type { Recipient } from '@rollcall/protos/gen/audience-v1.ts'
import type { TemplateContent } from '@rollcall/protos/gen/campaigns-v1.ts'
import { type Call, newKeySettings, serviceCaller } from '@rollcall/rpc'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { personOf } from '@rollcall/service'
import { migrate } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { Mongoose, Types } from 'mongoose'
import { readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import { personalData } from '../src/personal-data.ts'
import { service } from '../src/service.ts'

/** For tests: the context of the service with its own database, and calls of one organization. */
export type TestContext = {
  context: Context
  /** The contacts of the audience, by address; `unsubscribed` and `blocked` as their records have them. */
  contacts: Map<string, TestContact>
  /** Templates of campaigns, by id. */
  templates: Map<string, TemplateContent>
  /** Returns a call by a service, or by this user. */
  call(userId?: string): Call
  organizationId: string
  /** Erases what the service holds of a contact. */
  erase(contact: { contactId: string; email: string }): Promise<void>
  /** Returns the events in the outbox about a subject, in order. */
  eventsOf(subject: string): Promise<{ type: string; data: Record<string, unknown> }[]>
  stop(): Promise<void>
}

/** A contact of the audience. */
export type TestContact = { id: string; email: string; blocked?: boolean; unsubscribed?: boolean }

/** Creates it with the backing services of the environment and additional settings. */
export async function testContext(settings: Record<string, string> = {}): Promise<TestContext> {
  const dbName = `messaging-test-${new Types.ObjectId()}`
  const key = randomBytes(32).toString('base64')
  const config = readConfig({
    ...process.env,
    MONGODB_DATABASE: dbName,
    ...newKeySettings(['messaging']).messaging,
    SECRET_KEYS: `test:${key}`,
    LINK_KEYS: `test:${key}`,
    ERASURE_KEYS: `test:${key}`,
    IDENTITY_ADDRESS: '127.0.0.1:1',
    AUDIENCE_ADDRESS: '127.0.0.1:1',
    CAMPAIGNS_ADDRESS: '127.0.0.1:1',
    DEFAULT_PROVIDER: 'self-hosted',
    DNS_CHECK_SECONDS: '0',
    MAIL_HOST: 'mail.rollcall.test',
    ...settings,
  })
  const logger = createLogger({ service: 'messaging', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const lifecycle = createLifecycle({ service: 'messaging', logger, graceMs: 10_000 })
  await using onFailure = new AsyncDisposableStack()
  onFailure.defer(async () => void (await lifecycle.stop('test over'))) // otherwise what it opened keeps the process alive
  const base = await service.open(config, lifecycle)
  const database = await new Mongoose().createConnection(config.MONGODB_URL, { dbName }).asPromise()
  onFailure.defer(async () => {
    await dropDatabase(database)
    await database.close()
  })
  const contacts = new Map<string, TestContact>()
  const templates = new Map<string, TemplateContent>()
  const context: Context = {
    ...createContext(base),
    checkRecipients: async (_organization, recipients, isCampaign) =>
      recipients.map(recipient => checked(contacts, recipient, isCampaign)),
    holdRecipients: async (_organization, recipients, { isCampaign }) => ({
      checked: recipients.map(recipient => checked(contacts, recipient, isCampaign)),
      release: async () => {},
    }),
    requireMailReach: async () => ({ name: 'Organization One', defaultTracking: null }),
    requireVerified: async () => {},
    findTemplate: async (_organization, id) => {
      const template = templates.get(id)
      if (!template) throw new AppError('template.unknown')
      return template
    },
    findUsers: async () => [],
  }
  await migrate(base.store, logger)
  const all = onFailure.move()
  const organizationId = String(new Types.ObjectId())
  return {
    context,
    contacts,
    templates,
    organizationId,
    call: userId => ({
      caller: userId
        ? { ...serviceCaller('test', organizationId), kind: 'session', userId, userName: 'User One' }
        : serviceCaller('test', organizationId),
      requestId: '',
      deadline: Date.now() + 30_000,
      signal: new AbortController().signal,
      logger,
    }),
    async erase({ contactId, email }) {
      const person = personOf({ organizationId, contactId, emailKeys: [emailKeyOf(email)], names: [] })
      for (const data of Object.values(personalData))
        if (data !== 'none' && typeof data.erase === 'function') await data.erase(context, person)
    },
    async eventsOf(subject) {
      const entries = database.collection('outbox').find({ 'event.subject': subject }).sort({ at: 1, _id: 1 })
      return (await entries.toArray()).flatMap(({ event }) => event)
    },
    stop: () => all.disposeAsync(),
  }
}

/** Answers as the audience does. */
function checked(contacts: TestContext['contacts'], { contactId, email = '' }: Recipient, isCampaign: boolean) {
  const contact = contactId ? [...contacts.values()].find(({ id }) => id === contactId) : contacts.get(email)
  if (!contact) return { outcome: contactId ? ('deleted' as const) : ('unknown' as const), email, variables: { email } }
  const variables = { email: contact.email, name: '', attributes: {}, tags: [] }
  const isOut = isCampaign && contact.unsubscribed
  const outcome = contact.blocked ? ('blocked' as const) : isOut ? ('unsubscribed' as const) : ('ok' as const)
  return { outcome, contactId: contact.id, email: contact.email, variables }
}
