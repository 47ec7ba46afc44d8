import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './logger.ts'

const capture = () => {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  return { lines, logger: createLogger({ service: 'sample', level: 'debug', destination }) }
}

test('a line carries service, level, time and the id of the request', () => {
  const { lines, logger } = capture()
  logger.child({ requestId: 'r-1' }).info({ count: 2 }, 'hello')
  const { time, ...rest } = lines[0] ?? {}
  assert.deepEqual(rest, { level: 'info', service: 'sample', requestId: 'r-1', count: 2, msg: 'hello' })
  assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/)
})

test('what is secret stays out, at any depth, in any case, in bindings and in errors', () => {
  const { lines, logger } = capture()
  const hidden = 'hunter2'
  const error = Object.assign(new Error('refused'), { config: { headers: { Authorization: hidden } }, apiKey: hidden })
  const child = logger.child({ accessToken: hidden, session: { cookie: hidden } })
  child.info({
    a: { b: [{ 'set-cookie': hidden, password: hidden, newPassword: hidden }] },
    client_secret: hidden,
    'x-api-key': hidden,
  })
  child.error(error)
  child.error({ err: error, credentials: { user: hidden } })
  assert.equal(lines.length, 3)
  assert.ok(!JSON.stringify(lines).includes(hidden))
  assert.match(JSON.stringify(lines[1]), /refused.*stack/)
})

test('what only sounds secret is kept', () => {
  const { lines, logger } = capture()
  const fields = { tokenId: 't-1', tokenName: 'reporting', secretary: 'kept', at: new Date(0), ids: [1, 2], none: null }
  logger.info(fields)
  const line = lines[0] ?? {}
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(line[name], JSON.parse(JSON.stringify(value)))
})
