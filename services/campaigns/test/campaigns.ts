import type { Services } from '@rollcall/protos'
import type { FindUseRequest, FindUseResponse, TemplateContent } from '@rollcall/protos/gen/campaigns-v1.ts'
import {
  type Caller,
  type Client,
  connect,
  type Handlers,
  newKeySettings,
  readTrust,
  serve,
  serviceCaller,
} from '@rollcall/rpc'
import { createLifecycle, createLogger, type Event } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { shared } from '@rollcall/testing/shared'
import { deleteTopics } from '@rollcall/testing/topics'
import { Mongoose, type mongo, Types } from 'mongoose'
import { readConfig } from '../src/config.ts'
import { service } from '../src/service.ts'
import { type Audience, audienceDouble } from './audience-double.ts'
import { type Messaging, messagingDouble } from './messaging-double.ts'

export { jsonOf, streamedJsonOf, testCaller, textOf } from '@rollcall/testing/calls'

/** A running campaigns service for tests, with its own database, and doubles of the services that it calls. */
export type TestCampaigns = {
  client<N extends keyof Services & string>(name: N): Client<N>
  /** As the audience service asks, for the organization of a caller. */
  uses: { findUse(request: FindUseRequest, me: { caller: Caller }): Promise<FindUseResponse> }
  audience: Audience
  messaging: Messaging
  /** What organizations count by default. */
  tracking: Map<string, { opens: boolean; clicks: boolean }>
  /** Asks for the content of a template as messaging does, for the organization of a caller. */
  contentOf(templateId: string, me: { caller: Caller }): Promise<TemplateContent>
  /** Returns the events in the outbox about a subject, in order. */
  eventsOf(subject: string): Promise<Event[]>
  /** The service's database. */
  db: mongo.Db
  stop(): Promise<void>
}

/** The service in this process on the backing services of the environment, shared by the test files of the process. */
export const startTestCampaigns = shared(startOwnCampaigns)

/** The service with additional settings. */
export async function startOwnCampaigns(settings: Record<string, string> = {}): Promise<TestCampaigns> {
  await using onFailure = new AsyncDisposableStack()
  const keys = newKeySettings(['gateway', 'audience', 'campaigns', 'messaging'])
  const dbName = `campaigns-test-${new Types.ObjectId()}`
  const logger = createLogger({ service: 'campaigns', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const audience = audienceDouble()
  const messaging = messagingDouble()
  const tracking: TestCampaigns['tracking'] = new Map()
  const organizations: Handlers<'rollcall.identity.v1.Organizations'> = {
    findOrganization: async (_request, { caller }) => ({
      id: caller.organizationId,
      name: 'Acme',
      verified: true,
      ownerEmails: [],
      defaultTracking: tracking.get(caller.organizationId) ?? { opens: false, clicks: false },
    }),
  }
  const services = {
    'rollcall.audience.v1.Recipients': audience.handlers,
    'rollcall.identity.v1.Organizations': organizations,
    'rollcall.messaging.v1.Mailings': messaging.handlers,
  }
  const doubles = await serve({ services, port: 0, host: '127.0.0.1', trust: readTrust(keys.campaigns), logger })
  onFailure.defer(() => doubles.stop())
  const config = readConfig({
    ...process.env,
    MONGODB_DATABASE: dbName,
    TOPIC_PREFIX: `${dbName}.`,
    KAFKA_PARTITIONS: '2',
    ...keys.campaigns,
    AUDIENCE_ADDRESS: `127.0.0.1:${doubles.port}`,
    IDENTITY_ADDRESS: `127.0.0.1:${doubles.port}`,
    MESSAGING_ADDRESS: `127.0.0.1:${doubles.port}`,
    PORT: '0',
    LISTEN_HOST: '127.0.0.1',
    ...settings,
  })
  const database = new Mongoose().createConnection(config.MONGODB_URL, { dbName })
  await database.asPromise()
  onFailure.defer(async () => {
    await dropDatabase(database)
    await database.close()
    await deleteTopics(config.KAFKA_BROKERS.join(), config.TOPIC_PREFIX)
  })
  const lifecycle = createLifecycle({ service: 'campaigns', logger, graceMs: 10_000 })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const { port } = await service.start(config, lifecycle)
  const connection = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.gateway) })
  onFailure.defer(async () => connection.close())
  const ofAudience = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.audience) })
  onFailure.defer(async () => ofAudience.close())
  const ofMessaging = connect({ address: `127.0.0.1:${port}`, trust: readTrust(keys.messaging) })
  onFailure.defer(async () => ofMessaging.close())
  const contents = ofMessaging.client('rollcall.campaigns.v1.TemplateContents')
  const uses = ofAudience.client('rollcall.campaigns.v1.Uses')
  const booted = onFailure.move()
  return {
    client: name => connection.client(name),
    uses: {
      findUse: (request, { caller: { organizationId } }) =>
        uses.findUse(request, { caller: serviceCaller('audience', organizationId) }),
    },
    audience,
    messaging,
    tracking,
    contentOf: (templateId, { caller: { organizationId } }) =>
      contents.getTemplateContent({ templateId }, { caller: serviceCaller('messaging', organizationId) }),
    async eventsOf(subject) {
      const entries = database.collection('outbox').find({ 'event.subject': subject }).sort({ at: 1, _id: 1 })
      return (await entries.toArray()).map(({ event }) => event as Event)
    },
    db: database.db!,
    stop: () => booted.disposeAsync(),
  }
}

/** A page of a list. */
export type Page<T> = { docs: T[]; totalDocs: number }
