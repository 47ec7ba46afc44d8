// S5 of the goals: latency of normal clients and memory of a gateway during an attack of slow clients. It runs as a process
// of its own, with default settings. Only the services behind it are stubbed.
import { attackGateway } from '../security/slow-clients.ts'
import { atMost, type Figure } from './measure.ts'

const mebibyte = 2 ** 20
const attack = { bodies: 1_000, heads: 1_000, readers: 50, idle: 5_000, writers: 200 }
const settleMs = 5_000
/** The memory limit that the chart gives a gateway. */
const limitMebibytes = 768

/** Measures latency, failures and memory, healthy and under attack in one run. */
export async function run(): Promise<Figure[]> {
  const asking = { perSecond: 50, ms: 20_000 }
  const { healthy, attacked, hasEnded } = await attackGateway(
    {},
    { attack, asking, pageBytes: 60 * mebibyte, settled: (_, ms) => ms > settleMs },
  )
  const p99 = atMost('S5 p99 of others', attacked.p99 / healthy.p99, 2)
  const both = (value: (phase: typeof healthy) => string) => `${value(attacked)} / ${value(healthy)}`
  p99.measured += ` (${both(({ p99 }) => p99.toFixed(1))} ms; ${both(of => of.cpuMicrosPerRequest.toFixed(0))} µs of CPU a request)`
  const peak = Math.round(attacked.peakBytes / mebibyte)
  const grown = peak - Math.round(healthy.peakBytes / mebibyte)
  const { answered, failures } = attacked
  return [
    p99,
    {
      name: 'S5 memory',
      measured: `${peak} MiB (+${grown})`,
      goal: `≤ ${limitMebibytes} MiB`,
      ok: peak <= limitMebibytes,
    },
    {
      name: 'S5 others that failed',
      measured: `${failures.length} of ${answered + failures.length}${hasEnded ? ', and the gateway ended' : ''}${[...new Set(failures)].map(why => ` ${why}`).join()}`,
      goal: '0',
      ok: failures.length === 0 && !hasEnded,
    },
  ]
}
