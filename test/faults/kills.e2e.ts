import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { createBus, type Topic } from '@rollcall/bus'
import { freePort, LOCALHOST, SERVICES, type ServiceName } from '@rollcall/local'
import { createLogger, type Event, pause, retry } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { type MailSink, startMailSink } from '@rollcall/testing/mail-sink'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { type Api, bodyOf, makeToken, onceServed } from '../api.ts'
import { makeCampaign, unlimitedMail, untilSent } from '../messaging/campaign-world.ts'
import { counted, isSoak } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'
import { type Killable, killAtRandom } from './kill-at-random.ts'
import { type ReplicaSet, startReplicaSet } from './replica-set.ts'

/** R2 of the goals: at least one kill of each service, and a fault of the replica set for each. */
const kills = counted(SERVICES.length, 200)
/** How long the replica set has no primary, or replicates late. */
const OUTAGE_MS = 1500
/** Time for work between two kills of a service. */
const peaceMs = isSoak ? 2500 : 1000
const settleMs = 60_000
/** Recipients of the campaign that runs meanwhile, and its rate, at which it takes about as long as the kills. */
const recipients = isSoak ? 10_000 : 150
const RATE_PER_MINUTE = 600
const logger = createLogger({ service: 'test', level: 'silent' })

/** Created records, with their events and effects, which must match. */
type Account = {
  /** Ids of existing records. */
  there: string[]
  /** Subjects of their events, one for each distinct event. */
  published: string[]
  /** Number of effects in another service, and the expected number. */
  effects: number
  expected: number
  /** Accepted mails, and those published as sent, one for each distinct event. */
  queued: string[]
  sent: string[]
  campaign: CampaignAccount
}

/** The mails of a campaign, those published as ended, and those that contacts show; addresses that the server heard of. */
type CampaignAccount = { mails: string[]; ended: string[]; shown: string[]; reached: string[] }

const nothing: Account = {
  there: [],
  published: [],
  effects: 0,
  expected: 0,
  queued: [],
  sent: [],
  campaign: { mails: [], ended: [], shown: [], reached: [] },
}

/** Returns the number of lost and of repeated events and effects. */
function faultsOf(account: Account): { lost: number; doubled: number } {
  const { there, published, effects, expected, queued, sent, campaign } = account
  const { mails, ended, shown, reached } = campaign
  const pairs = [compared(there, published), compared(queued, sent), compared(mails, ended), compared(mails, shown)]
  const twice = reached.length - new Set(reached).size
  return {
    lost: pairs.reduce((sum, { lost }) => sum + lost, 0) + Math.max(0, expected - effects),
    doubled: pairs.reduce((sum, { doubled }) => sum + doubled, 0) + Math.max(0, effects - expected) + twice,
  }
}

function compared(ids: readonly string[], published: readonly string[]): { lost: number; doubled: number } {
  const known = new Set(published)
  const lost = ids.filter(id => !known.has(id)).length
  return { lost, doubled: Math.max(0, published.length - (ids.length - lost)) }
}

/** Collects every event of these topics, without repeated deliveries. */
function collectEvents(brokers: string, topicPrefix: string, topics: readonly Topic[]) {
  const bus = createBus({ brokers: brokers.split(','), clientId: 'oracle', logger, topicPrefix })
  const events = new Map<string, Event>()
  bus.consume({ group: `oracle-${randomUUID()}`, topics, handle: async event => void events.set(event.id, event) })
  return { events, close: () => bus.close() }
}

describe('processes that are killed', () => {
  let stack: TestStack
  let mongo: MongoClient
  let replicaSet: ReplicaSet
  let collected: ReturnType<typeof collectEvents>
  let sink: MailSink
  /** Addresses of the mails that the mail server accepted. */
  const reached: string[] = []
  before(async () => {
    replicaSet = await startReplicaSet()
    sink = await startMailSink({ onMail: to => void reached.push(to) })
    const mail = { ...unlimitedMail, SMTP_URL: `smtp://127.0.0.1:${sink.port}` }
    stack = await startStack({ processes: true, settings: { TRUST_PROXY: '1', MONGODB_URL: replicaSet.url, ...mail } })
    mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
    collected = collectEvents(stack.backing.KAFKA_BROKERS, stack.namespace, [
      'identity.events',
      'audience.events',
      'messaging.events',
    ])
  })
  after(async () => {
    await collected?.close()
    await mongo?.close()
    await stack?.stop()
    await sink?.stop()
    await replicaSet?.stop()
  })

  it('lose no event, and double no effect', { timeout: scaledTimeout(60_000 + kills * 20_000) }, async () => {
    const { api: owner } = await makeToken(stack.owner)
    const user = await bodyOf(owner.post<Record>('/api/users', { name: 'Account One', email: 'one@example.com' }), 201)
    const contact = await bodyOf(owner.post<Record>('/api/audience', { email: 'one@example.com' }), 201)
    await bodyOf(owner.patch(`/api/audience/${contact.id}/link-user`, { userId: user.id }))

    const campaign = await makeCampaign(stack, recipients)
    await bodyOf(owner.patch(`/api/emails/campaigns/${campaign}`, { ratePerMinute: RATE_PER_MINUTE }))
    await bodyOf(owner.post(`/api/emails/campaigns/${campaign}/start`))
    const changes = keepChanging(owner, user.id)
    const services = SERVICES.flatMap(service => stack.instances(service))
    await Promise.all([killAtRandom(services, kills, peaceMs), failAtRandom(replicaSet, kills, peaceMs)])
    const { acknowledged } = await changes.stop()
    const { counts } = await untilSent(stack, campaign)

    const account = await settled(() => accountOf(owner, user.id, contact.id, campaign))
    const faults = faultsOf(account)
    const { there, expected, queued } = account
    const made = `${there.length} contacts, ${expected} effects, ${queued.length} mails, ${recipients} of a campaign`
    console.log(`R2  ${kills} kills, ${made}: ${faults.lost} lost, ${faults.doubled} doubled`)
    assert.ok(queued.length > 0)
    assert.deepEqual([account.campaign.mails.length, counts.sent + counts.failed], [recipients, recipients])
    assert.deepEqual(faults, { lost: 0, doubled: 0 })
    const contacts = new Set(there)
    assert.deepEqual(
      acknowledged.filter(id => !contacts.has(id)),
      [],
    )
  })

  type Record = { id: string }
  const databaseOf = (service: ServiceName) => mongo.db(`${stack.namespace}rollcall_${service}`)

  /**
   * Repeatedly creates contacts, changes a user and invites others by mail. Returns the acknowledged contacts.
   */
  function keepChanging(owner: Api, userId: string) {
    const acknowledged: string[] = []
    let isOver = false
    let address = 0
    const from = () => owner.with({ 'x-forwarded-for': `198.51.${(address >> 8) & 255}.${address++ & 255}` })
    const make = async () => {
      const answer = await from().post<Record>('/api/audience', { email: `${randomUUID()}@example.com` })
      if (answer.status === 201) acknowledged.push(answer.body.id)
    }
    const change = () => from().patch(`/api/users/${userId}`, { name: `Account ${address}` })
    const invite = () => from().post('/api/users', { name: 'Invited', email: `${randomUUID()}@example.com` })
    const repeat = async (act: () => Promise<unknown>) => {
      while (!isOver) {
        await act().catch(() => undefined)
        await pause(20)
      }
    }
    const all = Promise.all([repeat(make), repeat(make), repeat(make), repeat(change), repeat(invite)])
    return {
      async stop() {
        isOver = true
        await all
        return { acknowledged }
      },
    }
  }

  async function accountOf(owner: Api, userId: string, contactId: string, campaign: string): Promise<Account> {
    const events = [...collected.events.values()]
    // Imported contacts have no event of their own.
    const contacts = await databaseOf('audience')
      .collection('contacts')
      .find({ emailKey: { $not: /^reader/ } }, { projection: { _id: 1 } })
      .toArray()
    const ofUser = events.filter(({ type, subject }) => type === 'user.updated' && subject === userId)
    const mails = (type: string) =>
      events
        .filter(event => event.type === type && event.data.kind !== 'campaign')
        .map(({ data }) => String(data.emailId))
    const query = { filter: { type: 'user.updated' }, pagination: 'false' }
    const entries = await onceServed(() => bodyOf(owner.get<Record[]>(`/api/audience/${contactId}/timeline`, query)))
    return {
      there: contacts.map(({ _id }) => String(_id)),
      published: events.filter(({ type }) => type === 'contact.created').map(({ subject }) => subject),
      effects: entries.length,
      expected: ofUser.length,
      queued: mails('email.queued'),
      sent: mails('email.sent'),
      campaign: await campaignAccountOf(campaign, events),
    }
  }

  async function campaignAccountOf(campaign: string, events: readonly Event[]): Promise<CampaignAccount> {
    const ofCampaign = { campaign: new ObjectId(campaign), status: { $in: ['sent', 'failed'] } }
    const mails = await databaseOf('messaging').collection('mails').find(ofCampaign).toArray()
    const ids = mails.map(({ _id }) => String(_id))
    const ends = mails.map(({ _id, status }) => `${_id} ${status}`)
    const shown = await databaseOf('audience')
      .collection('emails')
      .find({ emailId: { $in: ids } })
      .toArray()
    return {
      mails: ends,
      ended: events
        .filter(({ type, data }) => data.campaignId === campaign && type !== 'email.queued')
        .map(({ type, data }) => `${data.emailId} ${type.slice('email.'.length)}`),
      shown: shown.map(({ emailId, status }) => `${emailId} ${status}`),
      reached: reached.filter(to => mails.some(mail => mail.to === to)),
    }
  }

  /** Waits until nothing is in progress, or the timeout. */
  async function settled(look: () => Promise<Account>): Promise<Account> {
    const deadline = Date.now() + scaledTimeout(settleMs)
    for (;;) {
      const unsent = await Promise.all(
        (['identity', 'audience', 'messaging'] as const).map(service =>
          databaseOf(service).collection('outbox').countDocuments({ sentAt: null }),
        ),
      )
      const account = await look()
      const { lost, doubled } = faultsOf(account)
      if (unsent.every(count => count === 0) && lost + doubled === 0) return account
      if (Date.now() > deadline) return account
      await pause(500)
    }
  }
})

describe('a service that publishes a while after it has stored', () => {
  it('loses events when it is killed', { timeout: scaledTimeout(120_000) }, async () => {
    const name = `naive_${randomUUID().slice(0, 8)}`
    const { KAFKA_BROKERS = '', MONGODB_URL = '' } = process.env
    const mongo = await new MongoClient(MONGODB_URL).connect()
    const collected = collectEvents(KAFKA_BROKERS, `${name}.`, ['audience.events'])
    const things = mongo.db(name).collection('things')
    const naive = naiveInstance(name, await freePort())
    try {
      await naive.start()
      const acknowledged: string[] = []
      const make = async () => {
        const id = await fetch(naive.url, { method: 'POST' }).then(
          answer => answer.text(),
          () => '',
        )
        if (id) acknowledged.push(id)
        else await pause(20)
      }
      while (acknowledged.length === 0) await make()
      let isOver = false
      const keepMaking = async () => {
        while (!isOver) await make()
      }
      const makers = Promise.all(Array.from({ length: 8 }, keepMaking))
      await killAtRandom([naive], counted(1, 12), 300)
      isOver = true
      await makers
      const published = () => [...collected.events.values()].map(({ subject }) => subject)
      const allTold = async () => assert.equal(compared(acknowledged, published()).lost, 0)
      await retry(allTold, { deadline: Date.now() + scaledTimeout(settleMs), baseMs: 50, maxMs: 200 })
      const there = (await things.find().toArray()).map(({ _id }) => String(_id))
      assert.ok(faultsOf({ ...nothing, there, published: published() }).lost > 0)
    } finally {
      await naive.kill()
      await collected.close()
      await dropDatabase(mongo.db(name))
      await mongo.close()
    }
  })
})

const OUTAGES = ['without primary', 'losing replies', 'lagging'] as const

/** Has the replica set fail at random moments: elections, lost replies of commits, late replication. */
async function failAtRandom(replicaSet: ReplicaSet, count: number, peaceMs: number): Promise<void> {
  for (let fault = 0; fault < count; fault++) {
    await pause(peaceMs * (1 + 2 * Math.random()))
    await replicaSet.become(OUTAGES[fault % OUTAGES.length]!)
    await pause(OUTAGE_MS)
    await replicaSet.become('open')
  }
}

function naiveInstance(name: string, port: number): Killable & { url: string } {
  let child: ChildProcess | undefined
  const url = `http://${LOCALHOST}:${port}/`
  return {
    url,
    async start() {
      const script = new URL('./kills.child.ts', import.meta.url).pathname
      child = spawn(process.execPath, [script, name, String(port)], { stdio: 'inherit' })
      while (
        !(await fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ))
      )
        await pause(50)
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
