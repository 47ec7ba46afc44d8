import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { counted } from '../soak.ts'
import { attackGateway, type Outcome } from './slow-clients.ts'

const mebibyte = 2 ** 20
const scale = counted(1, 4)
const attack = { bodies: 250 * scale, heads: 100 * scale, readers: 12 * scale, idle: 600 * scale, writers: 25 * scale }
const load = { attack, asking: { perSecond: 40, ms: 1_500 * scale }, pageBytes: 15 * scale * mebibyte }
const settleMs = 2_000
/** Timeout of an attack that must succeed. */
const TIMEOUT_MS = 60_000
const memory = { bodies: 8 * mebibyte, answers: 8 * mebibyte }
/** Memory of connections and of uncollected garbage. */
const slackBytes = 150 * mebibyte * scale
const mostBytes = memory.bodies + memory.answers + slackBytes

const settings = {
  BODY_MEMORY_BYTES: String(memory.bodies),
  BODY_MEMORY_BYTES_PER_ADDRESS: String(memory.bodies),
  ANSWER_MEMORY_BYTES: String(memory.answers),
  MAX_CONNECTIONS: String(900 * scale),
  CLIENT_TIMEOUT_MS: '2000',
}
/** The naive variant: a gateway without limits. */
const naive = {
  BODY_MEMORY_BYTES: String(2 ** 40),
  BODY_MEMORY_BYTES_PER_ADDRESS: String(2 ** 40),
  ANSWER_MEMORY_BYTES: String(2 ** 40),
  MAX_CONNECTIONS: '1000000',
  MAX_CONNECTIONS_PER_ADDRESS: '1000000',
  CLIENT_TIMEOUT_MS: '600000',
}

describe('finding 2: clients that hold bodies, connections and answers', () => {
  it('have a limit of memory, and do not block other clients', { timeout: scaledTimeout(120_000) }, async () => {
    const outcome = await attackGateway(settings, { ...load, settled: (_, ms) => ms > settleMs })
    print(outcome)
    assert.equal(outcome.hasEnded, false)
    assert.deepEqual(outcome.attacked.failures, [])
    assert.ok(grownBy(outcome) <= mostBytes, `${grownBy(outcome) / mebibyte} MiB`)
  })

  it('get more than that of a gateway without bounds', { timeout: scaledTimeout(120_000) }, async () => {
    const outcome = await attackGateway(naive, {
      ...load,
      settled: (bytes, ms) => bytes > mostBytes || ms > TIMEOUT_MS,
    })
    print(outcome)
    assert.ok(grownBy(outcome) > mostBytes, `${grownBy(outcome) / mebibyte} MiB`)
  })
})

function grownBy({ healthy, attacked }: Outcome): number {
  return attacked.peakBytes - healthy.peakBytes
}

function print({ healthy, attacked }: Outcome): void {
  const of = ({ p99, failures, peakBytes, cpuMicrosPerRequest }: Outcome['healthy']) =>
    `p99 ${p99.toFixed(1)} ms, ${failures.length} failed, ${Math.round(peakBytes / mebibyte)} MiB, ${Math.round(cpuMicrosPerRequest)} µs of CPU a request`
  console.log(`S5  healthy: ${of(healthy)}; under attack: ${of(attacked)}`)
}
