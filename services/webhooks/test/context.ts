import { randomBytes } from 'node:crypto'
import { type Call, newKeySettings, serviceCaller } from '@rollcall/rpc'
import { createLifecycle, createLogger } from '@rollcall/runtime'
import { migrate } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { type Receiver, startReceiver } from '@rollcall/testing/receiver'
import { Mongoose, Types } from 'mongoose'
import type { Tenant } from '../src/collections.ts'
import { readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import type { Delivery } from '../src/deliveries/delivery.model.ts'
import { newDelivery } from '../src/deliveries/schedule.ts'
import { newSecret } from '../src/endpoints/signing.ts'
import { secretPlace, type Webhook } from '../src/endpoints/webhook.model.ts'
import type { LoggedEvent } from '../src/events/logged-event.model.ts'
import { service } from '../src/service.ts'

/** For tests: the context of the service with its own database, and what one organization has in it. No job runs. */
export type TestContext = {
  context: Context
  organizationId: string
  tenant: Tenant
  /** What endpoints of `addWebhook` are at. */
  receiver: Receiver
  /** Returns a call of the organization. */
  call(signal?: AbortSignal): Call
  addWebhook(fields?: Partial<Webhook>): Promise<Webhook>
  addEvent(fields?: Partial<LoggedEvent>): Promise<LoggedEvent>
  addDelivery(webhook: Webhook, event: LoggedEvent, fields?: Partial<Delivery>): Promise<Delivery>
  stop(): Promise<void>
}

/** Creates it with the backing services of the environment. */
export async function testContext(): Promise<TestContext> {
  await using onFailure = new AsyncDisposableStack()
  const dbName = `webhooks-test-${new Types.ObjectId()}`
  const config = readConfig({
    ...process.env,
    MONGODB_DATABASE: dbName,
    ...newKeySettings(['webhooks']).webhooks,
    SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  const logger = createLogger({ service: 'webhooks', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  const lifecycle = createLifecycle({ service: 'webhooks', logger, graceMs: 10_000 })
  onFailure.defer(async () => void (await lifecycle.stop('test over')))
  const base = await service.open(config, lifecycle)
  const database = await new Mongoose().createConnection(config.MONGODB_URL, { dbName }).asPromise()
  onFailure.defer(async () => {
    await dropDatabase(database)
    await database.close()
  })
  const context = createContext(base)
  await migrate(base.store, logger)
  const receiver = await startReceiver()
  onFailure.defer(receiver.stop)
  const organizationId = String(new Types.ObjectId())
  const tenant = context.collections.of(organizationId)
  const all = onFailure.move()
  return {
    context,
    organizationId,
    tenant,
    receiver,
    call: (signal = new AbortController().signal) => ({
      caller: serviceCaller('test', organizationId),
      requestId: '',
      deadline: Date.now() + 30_000,
      signal,
      logger,
    }),
    addWebhook(fields = {}) {
      const place = { organization: tenant.webhooks.organization, _id: new Types.ObjectId() }
      const secret = context.secrets.seal(newSecret(), secretPlace.signing(place))
      const createdBy = { kind: 'system', id: null, name: 'test' } as const
      const { _id } = place
      return tenant.webhooks.insertOne({
        _id,
        name: 'n',
        url: receiver.url,
        secret,
        secretPreview: 'whsec_…',
        createdBy,
        ...fields,
      })
    },
    addEvent(fields = {}) {
      const id = new Types.ObjectId()
      return tenant.events.insertOne({
        _id: id,
        type: 'contact.created',
        at: new Date(),
        actor: { kind: 'system', id: null, name: 'test' },
        subject: { kind: 'contact', id: String(id), name: null },
        data: '{}',
        expiresAt: new Date(Date.now() + 3_600_000),
        ...fields,
      })
    },
    addDelivery: (webhook, event, fields = {}) =>
      tenant.deliveries.insertOne({ ...newDelivery(tenant, webhook, [event])[0]!, ...fields }),
    stop: () => all.disposeAsync(),
  }
}
