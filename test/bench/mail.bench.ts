// M1 of the goals: mails of a campaign that reach a mail server, per second, and what each process spends on one.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { SERVICES } from '@rollcall/local'
import { bodyOf } from '../api.ts'
import { makeCampaign, unlimitedMail, untilSent } from '../messaging/campaign-world.ts'
import { startStack, type TestStack } from '../stack.ts'
import { cpuOf, cpuOfSession, pidByPort } from './cpu.ts'
import type { Figure } from './measure.ts'
import { peakMemoryWhile } from './memory.ts'

const recipients = Number(process.env.BENCH_RECIPIENTS ?? 100_000)
/** The first mails are left out of the memory: code is compiled and pools fill. */
const SMALL = Math.ceil(recipients / 10)
const MAX_GROWTH = 1.25
const PER_SECOND = Number(process.env.PEER_MAILS_PER_SECOND ?? 0)

/** Measures a campaign of a tenth of the recipients, and one of all. */
export async function run(): Promise<Figure[]> {
  await using cleanUp = new AsyncDisposableStack()
  const sink = await startSink(cleanUp)
  const settings = { ...unlimitedMail, SMTP_URL: `smtp://127.0.0.1:${sink.port}` }
  const small = await campaignOf(SMALL, settings, sink)
  const large = await campaignOf(recipients, settings, sink)
  const shown = Object.entries(large.cost).map(([name, cost]) => `${name} ${Math.round(cost)}`)
  const growth = large.memory / small.memory
  return [
    {
      name: `M1 mails of a campaign of ${recipients}`,
      measured: `${Math.round(large.perSecond)}/s (${shown.join(' + ')} µs a mail)`,
      goal: PER_SECOND > 0 ? `≥ ${PER_SECOND}/s of the peer` : 'ratio to a peer: not measured',
      ok: PER_SECOND > 0 && large.perSecond >= PER_SECOND,
    },
    {
      name: 'M1 memory of messaging for ten times the recipients',
      measured: `${growth.toFixed(2)}× (${Math.round(large.memory / 2 ** 20)} MiB)`,
      goal: `≤ ${MAX_GROWTH}×`,
      ok: growth <= MAX_GROWTH,
    },
  ]
}

type Sink = { port: number; count(): Promise<number> }
type Measured = { perSecond: number; memory: number; cost: Record<string, number> }

async function startSink(cleanUp: AsyncDisposableStack): Promise<Sink> {
  const file = join(import.meta.dirname, 'mail-sink.child.ts')
  const child: ChildProcess = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  cleanUp.defer(async () => void child.kill())
  const line = async () => Number(((await once(child.stdout!, 'data')) as [Buffer])[0].toString())
  const port = await line()
  const count = () => {
    const answer = line()
    child.stdin!.write('\n')
    return answer
  }
  return { port, count }
}

/** Sends one campaign with a product of its own. The time runs from the start to the last mail. */
async function campaignOf(count: number, settings: Record<string, string>, sink: Sink): Promise<Measured> {
  const stack = await startStack({ processes: true, settings })
  try {
    const id = await makeCampaign(stack, count)
    const before = await sink.count()
    const used = await cpuOfAll(stack)
    const startedAt = performance.now()
    const memory = await peakMemoryWhile(stack.instances('messaging')[0]!.pid(), async () => {
      await bodyOf(stack.owner.post(`/api/emails/campaigns/${id}/start`))
      const { counts } = await untilSent(stack, id)
      assert.equal(counts.sent, count)
    })
    const seconds = (performance.now() - startedAt) / 1000
    assert.equal((await sink.count()) - before, count)
    const after = await cpuOfAll(stack)
    const cost = Object.keys(after).map(name => [name, ((after[name]! - used[name]!) * 1000) / count])
    return { perSecond: count / seconds, memory, cost: Object.fromEntries(cost) }
  } finally {
    await stack.stop()
  }
}

async function cpuOfAll(stack: TestStack): Promise<Record<string, number>> {
  const used: Record<string, number> = {}
  for (const service of SERVICES) used[service] = await cpuOfSession(stack.instances(service)[0]!.pid())
  used.database = cpuOf(await pidByPort(new URL(stack.backing.MONGODB_URL).port))
  return used
}
