import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { freePort, LOCALHOST } from '@rollcall/local'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { startMailSink } from '@rollcall/testing/mail-sink'
import { Redis } from 'ioredis'
import { type Binary, type Db, MongoClient, ObjectId } from 'mongodb'
import { bodyOf, onceServed } from '../api.ts'
import { pidByPort } from '../bench/cpu.ts'
import { addressOf, makeCampaign, unlimitedMail, untilSent } from '../messaging/campaign-world.ts'
import { startStack } from '../stack.ts'

/** Number of kills, and of recipients of the campaign. `isNaive`: mails that a kill interrupts are sent again. */
export type PlayOptions = {
  kills: number
  recipients: number
  seed: number
  isNaive?: boolean
  /** Default: all. */
  victims?: readonly Victim[]
}

/** What became of the recipients of a campaign whose processes were killed. */
export type Report = {
  kills: Record<Victim, number>
  recipients: number
  seconds: number
  /** Addresses that the mail server accepted more than one mail for. */
  twice: number
  /** Recipients that are reported as sent and got no mail, and that got one and are reported as neither sent nor unknown. */
  sentWithoutMail: number
  mailWithoutReport: number
  unknown: number
  atMostUnknown: number
  /** Whether the counts of the campaign are those of its recipients. */
  countsMatch: boolean
}

const VICTIMS = ['campaigns', 'messaging', 'audience', 'redis'] as const
type Victim = (typeof VICTIMS)[number]

/** Mails that a replica has in hand at most. */
const IN_HAND = 20
/** How long the mail server takes for a mail. */
const MAIL_MS = 5
const UNKNOWN = 'unknown whether it was handed over'

/** Formats a report as one line. */
export function summarize({ kills, recipients, seconds, twice, unknown }: Report): string {
  const killed = Object.entries(kills).map(([victim, count]) => `${victim} ${count}×`)
  return `M2  ${recipients} recipients in ${seconds.toFixed(0)} s, killed ${killed.join(', ')}: ${twice} addresses got the mail twice, ${unknown} are reported as unknown`
}

/** Returns why a report fails. */
export function violationsIn(report: Report): string[] {
  const { twice, sentWithoutMail, mailWithoutReport, unknown, atMostUnknown, countsMatch } = report
  return [
    ...(twice > 0 ? [`${twice} addresses got the mail twice`] : []),
    ...(sentWithoutMail > 0 ? [`${sentWithoutMail} are reported as sent and got no mail`] : []),
    ...(mailWithoutReport > 0 ? [`${mailWithoutReport} got the mail and are reported as something else`] : []),
    ...(unknown > atMostUnknown ? [`${unknown} are unknown, at most ${atMostUnknown} were in hand`] : []),
    ...(countsMatch ? [] : ['the counts of the campaign do not match its recipients']),
  ]
}

/** Sends a campaign and kills its services and Redis at random points of it. */
export async function play({
  kills: count,
  recipients,
  seed,
  isNaive = false,
  victims = VICTIMS,
}: PlayOptions): Promise<Report> {
  await using cleanUp = new AsyncDisposableStack()
  const accepted: string[] = []
  const sink = await startMailSink({
    async onMail(to) {
      accepted.push(to)
      await pause(MAIL_MS)
    },
  })
  cleanUp.defer(() => sink.stop())
  const redis = await startOwnRedis()
  cleanUp.defer(() => redis.kill())
  const settings = { ...unlimitedMail, SMTP_URL: `smtp://127.0.0.1:${sink.port}`, ...redis.settings }
  const stack = await startStack({ processes: ['campaigns', 'messaging', 'audience'], settings })
  cleanUp.defer(() => stack.stop())
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  cleanUp.defer(() => mongo.close())
  const messaging = mongo.db(`${stack.namespace}rollcall_messaging`)
  const mails = messaging.collection('mails')

  const id = await makeCampaign(stack, recipients)
  const ofCampaign = { campaign: new ObjectId(id) }
  const startedAt = performance.now()
  await bodyOf(stack.owner.post(`/api/emails/campaigns/${id}/start`))
  const kills = { campaigns: 0, messaging: 0, audience: 0, redis: 0 }
  const random = randomOf(seed)
  for (let kill = 0; kill < count; kill++) {
    // Somewhere in the next part of the campaign, so that each kill finds it at work.
    const part = recipients / (count + 1)
    const at = Math.floor(part * (kill + random()))
    await eventually(`${at} mails`, () => accepted.length >= at || undefined, { withinMs: 120_000, everyMs: 5 })
    const victim = victims[Math.floor(random() * victims.length)]!
    const instance = victim === 'redis' ? redis : stack.instances(victim)[0]!
    await instance.kill()
    if (isNaive && victim === 'messaging') {
      await endTransactions(messaging)
      await mails.updateMany(
        { ...ofCampaign, status: 'queued' },
        { $set: { status: 'waiting', nextTryAt: new Date(0) } },
      )
    }
    await pause(random() * 300)
    await instance.start()
    kills[victim]++
  }
  const { counts } = await untilSent(stack, id)
  const stored = await mails.find(ofCampaign).toArray()
  const got = Map.groupBy(accepted, to => to)
  const sent = stored.filter(({ status }) => status === 'sent')
  const unknown = stored.filter(({ status, error }) => status === 'failed' && String(error).startsWith(UNKNOWN))
  const reported = new Set([...sent, ...unknown].map(({ to }) => to))
  const shown = await onceServed(() =>
    bodyOf(stack.owner.get<{ totalDocs: number }>(`/api/emails/campaigns/${id}/recipients`, { $limit: 1 })),
  )
  return {
    kills,
    recipients,
    seconds: (performance.now() - startedAt) / 1000,
    twice: [...got.values()].filter(({ length }) => length > 1).length,
    sentWithoutMail: sent.filter(({ to }) => !got.has(to)).length,
    mailWithoutReport: [...got.keys()].filter(to => !reported.has(to)).length,
    unknown: unknown.length,
    atMostUnknown: kills.messaging * IN_HAND,
    countsMatch:
      counts.sent === sent.length &&
      counts.failed === unknown.length &&
      counts.recipients === recipients &&
      shown.totalDocs === recipients &&
      new Set(stored.map(({ to }) => to)).size === recipients &&
      stored.some(({ to }) => to === addressOf(recipients - 1)),
  }
}

/** Ends the transactions of a service that was killed: a write of the same records would wait for them. */
async function endTransactions(database: Db): Promise<void> {
  const processes = await database.collection<{ sessions: Binary[] }>('processes').find().toArray()
  const killSessions = processes.flatMap(({ sessions }) => sessions.map(id => ({ id })))
  if (killSessions.length > 0) await database.admin().command({ killSessions }) // an empty list would end every session
}

/** A Redis of its own, which can be killed. */
async function startOwnRedis() {
  const port = await freePort()
  const known = new URL(process.env.REDIS_CACHE_URL ?? '').port
  const program = readlinkSync(`/proc/${await pidByPort(known)}/exe`)
  const args = ['--bind', LOCALHOST, '--port', String(port), '--save', '', '--appendonly', 'no']
  let running: ChildProcess
  const start = async () => {
    running = spawn(program, args, { argv0: 'redis-server', stdio: 'ignore' }) // the program has several names
    const client = new Redis(port, LOCALHOST, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    await eventually('Redis', () =>
      client.connect().then(
        () => true,
        () => undefined,
      ),
    )
    client.disconnect()
  }
  const kill = async () => {
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }
  await start()
  const url = `redis://${LOCALHOST}:${port}`
  return { settings: { REDIS_CACHE_URL: `${url}/0`, REDIS_QUEUE_URL: `${url}/1` }, start, kill }
}

/** Returns a generator of numbers from 0 to 1, the same for a seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 0) / 2 ** 32
  }
}
