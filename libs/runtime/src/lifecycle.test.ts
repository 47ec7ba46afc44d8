import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createLifecycle } from './lifecycle.ts'
import { createLogger } from './logger.ts'

type Line = Record<string, unknown> & { msg?: string; step?: string; internalPort?: number }

const logger = createLogger({ service: 'sample', level: 'silent' })
const childPath = fileURLToPath(new URL('../test/lifecycle.child.ts', import.meta.url))

/** Runs the sample service or task. Sends SIGTERM when `stopWhen` returns true for a log line. */
const run = async (
  env: NodeJS.ProcessEnv,
  stopWhen: (line: Line) => boolean | Promise<boolean> = () => false,
  ...args: string[]
) => {
  const child = spawn(process.execPath, [childPath, ...args], {
    env: { BEHAVIOUR: 'good', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines: Line[] = []
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (await stopWhen(line)) child.kill('SIGTERM')
  }
  const [code] = await exited
  return { code, lines, stderr, steps: lines.flatMap(line => (line.step ? [line.step] : [])) }
}

const serving = (line: Line) => line.msg === 'serving'

test('steps run one by one, last registered first, after the shutdown signal, and once', async () => {
  const lifecycle = createLifecycle({ service: 'sample', logger, drainMs: 5 })
  const seen: string[] = []
  lifecycle.shutdown.addEventListener('abort', () => seen.push(`shutdown, draining ${lifecycle.health.draining}`))
  for (const name of ['store', 'bus', 'server']) {
    lifecycle.onStop(name, async () => {
      seen.push(`${name} begins`)
      await new Promise(setImmediate)
      seen.push(`${name} ends`)
    })
  }
  lifecycle.health.serving()
  assert.deepEqual(await Promise.all([lifecycle.stop('a'), lifecycle.stop('b')]), ['clean', 'clean'])
  assert.deepEqual(seen, [
    'shutdown, draining true',
    'server begins',
    'server ends',
    'bus begins',
    'bus ends',
    'store begins',
    'store ends',
  ])
})

test('a service that never served stops without draining', async () => {
  const lifecycle = createLifecycle({ service: 'sample', logger, graceMs: 1000, drainMs: 60_000 })
  assert.equal(await lifecycle.stop('done'), 'clean')
})

test('SIGTERM stops gracefully, answers "not ready" while draining, and exits 0', async () => {
  let url = ''
  const statuses: number[] = []
  const ready = async () => statuses.push((await fetch(url)).status)
  const { code, steps } = await run({ SHUTDOWN_DRAIN_MS: '300' }, async line => {
    if (line.msg === 'stopping') await ready()
    if (!serving(line)) return false
    url = `http://127.0.0.1:${line.internalPort}/health/ready`
    await ready()
    return true
  })
  assert.equal(code, 0)
  assert.deepEqual(statuses, [200, 503])
  assert.deepEqual(steps, ['server', 'store', 'internal server'])
})

test('a hanging step ends with the grace period and a fatal log line', async () => {
  const startedAt = performance.now()
  const { code, lines, steps } = await run({ BEHAVIOUR: 'hanging-stop', SHUTDOWN_GRACE_MS: '300' }, serving)
  assert.equal(code, 1)
  assert.deepEqual(steps, ['server', 'stubborn'])
  assert.deepEqual([lines.at(-1)?.level, lines.at(-1)?.left], ['fatal', ['internal server', 'store']])
  assert.ok(performance.now() - startedAt < 5000)
})

test('a failing step does not keep the others from stopping, and exits 1', async () => {
  const { code, steps } = await run({ BEHAVIOUR: 'failing-stop' }, serving)
  assert.equal(code, 1)
  assert.deepEqual(steps, ['server', 'clumsy', 'store', 'internal server'])
})

test('an unreachable trace collector is logged and does not change the exit code', async () => {
  const nobody = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '500' }
  const { code, lines } = await run({ ...nobody, OTEL_TRACES_SAMPLER_ARG: '1' }, serving)
  assert.equal(code, 0)
  assert.ok(lines.some(({ level, msg }) => level === 'warn' && msg === 'last spans not exported'))
})

test('a failing start releases its resources and exits 1', async () => {
  const { code, steps, lines } = await run({ BEHAVIOUR: 'failing-start' })
  assert.equal(code, 1)
  assert.deepEqual(steps, ['store', 'internal server'])
  assert.ok(lines.some(line => line.level === 'fatal' && line.msg === 'start failed'))
})

test('SIGTERM during a start that hangs exits 0', async () => {
  const { code } = await run({ BEHAVIOUR: 'hanging-start' }, line => line.msg === 'starting')
  assert.equal(code, 0)
})

test('a task exits when it is done, and releases its resources', async () => {
  const runTask = (BEHAVIOUR: string) => run({ BEHAVIOUR }, undefined, 'task')
  const done = await runTask('good')
  assert.deepEqual([done.code, done.steps], [0, ['server', 'store']])
  const failed = await runTask('failing-start')
  assert.deepEqual([failed.code, failed.steps], [1, ['store']])
})

test('an uncaught exception and an unhandled rejection are logged and exit 1', async () => {
  for (const BEHAVIOUR of ['throwing', 'rejecting']) {
    const { code, lines } = await run({ BEHAVIOUR })
    assert.equal(code, 1, BEHAVIOUR)
    assert.deepEqual([lines.at(-1)?.level, lines.at(-1)?.msg], ['fatal', 'crashed'])
  }
})

test('an invalid configuration is explained and exits 1', async () => {
  const { code, stderr, lines } = await run({ INTERNAL_PORT: 'x' })
  assert.equal(code, 1)
  assert.equal(stderr, 'sample cannot start:\n  INTERNAL_PORT is not usable: expected a port, 0 to 65535\n')
  assert.deepEqual(lines, [])
})
