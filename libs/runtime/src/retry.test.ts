import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, retry } from './retry.ts'
import { pause, TimeoutError, within } from './time.ts'

const failing = (times: number) => {
  let calls = 0
  return async () => {
    calls++
    if (calls <= times) throw new Error(`failure ${calls}`)
    return calls
  }
}

test('retry goes on until the task succeeds', async () => {
  const waits: number[] = []
  const result = await retry(failing(3), { baseMs: 1, onRetry: (_error, _attempt, waitMs) => waits.push(waitMs) })
  assert.equal(result, 4)
  assert.equal(waits.length, 3)
})

test('retry throws the last error when attempts, deadline, retryability or signal end it', async () => {
  await assert.rejects(retry(failing(9), { attempts: 3, baseMs: 1 }), /failure 3/)
  await assert.rejects(retry(failing(9), { deadline: Date.now() - 1 }), /failure 1/)
  await assert.rejects(retry(failing(9), { retryable: () => false }), /failure 1/)
  const controller = new AbortController()
  const waiting = retry(failing(9), { baseMs: 60_000, maxMs: 60_000, signal: controller.signal })
  controller.abort()
  await assert.rejects(waiting, /failure 1/)
})

test('backoff grows to its bound and is never the same for all', () => {
  const waits = Array.from({ length: 50 }, () => backoffMs(20, { baseMs: 10, maxMs: 1000 }))
  assert.ok(waits.every(ms => ms >= 500 && ms <= 1000))
  assert.ok(new Set(waits).size > 10)
  assert.ok(backoffMs(1, { baseMs: 10 }) <= 10)
})

test('within passes results and errors on, and signals the task at its time limit', async () => {
  assert.equal(await within(1000, 'sum', async () => 3), 3)
  await assert.rejects(
    within(1000, 'sum', async () => {
      throw new Error('inner')
    }),
    /inner/,
  )
  let signalled = false
  const hanging = within(5, 'reading', async signal => {
    await pause(60_000, signal)
    signalled = true
  })
  await assert.rejects(
    hanging,
    (error: unknown) => error instanceof TimeoutError && /reading.*5 ms/.test(error.message),
  )
  await new Promise(setImmediate)
  assert.ok(signalled)
})
