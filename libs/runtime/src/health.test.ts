import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHealth } from './health.ts'
import { startInternalServer } from './internal-server.ts'
import { createLogger } from './logger.ts'
import { createMetrics } from './metrics.ts'

const logger = createLogger({ service: 'sample', level: 'silent' })

const boot = async () => {
  const health = createHealth({ logger, checkTimeoutMs: 50 })
  const metrics = createMetrics('sample')
  const server = await startInternalServer({ port: 0, health, metrics, logger })
  const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init)
  return { health, metrics, get, [Symbol.asyncDispose]: server.stop }
}

test('ready follows the process from start to drain; live never changes', async () => {
  await using internal = await boot()
  const states = async () => [(await internal.get('/health/live')).status, (await internal.get('/health/ready')).status]
  assert.deepEqual(await states(), [200, 503])
  internal.health.serving()
  assert.deepEqual(await states(), [200, 200])
  internal.health.drain()
  assert.deepEqual(await states(), [200, 503])
  internal.health.serving()
  assert.deepEqual(await states(), [200, 503], 'a drained process never serves again')
})

test('a failing or hanging check makes it not ready, within the limit, without showing its reason', async () => {
  await using internal = await boot()
  let broken = true
  internal.health.serving()
  internal.health.addReadyCheck('fine', async () => undefined)
  internal.health.addReadyCheck('broken', async () => {
    if (broken) throw new Error('host db-1 refused')
  })
  internal.health.addReadyCheck('hanging', () => (broken ? new Promise(() => undefined) : Promise.resolve()))

  const startedAt = performance.now()
  const response = await internal.get('/health/ready')
  assert.ok(performance.now() - startedAt < 1000)
  assert.equal(response.status, 503)
  assert.deepEqual(await response.json(), {
    ok: false,
    state: 'serving',
    checks: { fine: 'ok', broken: 'failed', hanging: 'failed' },
  })

  broken = false
  assert.equal((await internal.get('/health/ready')).status, 200)
})

test('metrics have the label service, and a name used twice is one metric', async () => {
  await using internal = await boot()
  const { metrics } = internal
  const handled = { name: 'sample_handled_total', help: 'Handled.', labels: ['outcome'] as const }
  metrics.counter(handled).inc({ outcome: 'ok' })
  metrics.counter(handled).inc({ outcome: 'ok' })
  metrics.gauge({ name: 'sample_waiting', help: 'Waiting.', collect: gauge => gauge.set(7) })
  metrics.histogram({ name: 'sample_seconds', help: 'Time.' }).observe(0.3)

  const text = await (await internal.get('/metrics')).text()
  assert.match(text, /sample_handled_total\{outcome="ok",service="sample"\} 2/)
  assert.match(text, /sample_waiting\{service="sample"\} 7/)
  assert.match(text, /sample_seconds_bucket\{le="0.5",service="sample"\} 1/)
  assert.match(text, /nodejs_eventloop_lag_seconds\{service="sample"\}/)
})

test('other paths and methods are 404', async () => {
  await using internal = await boot()
  for (const path of ['/', '/health', '/constructor', '/metrics/x'])
    assert.equal((await internal.get(path)).status, 404, path)
  assert.equal((await internal.get('/metrics', { method: 'POST' })).status, 404)
})
