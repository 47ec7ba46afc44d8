import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, loadConfig } from '@rollcall/runtime'
import { z } from 'zod'
import { busConfig, busSettings, saslIsComplete } from './config.ts'

const schema = z.object(busConfig).check(saslIsComplete)
const settings = (env: NodeJS.ProcessEnv) => busSettings(loadConfig(schema, env))
const brokers = { KAFKA_BROKERS: 'a:1,b:2' }

test('only the brokers are required', () => {
  assert.deepEqual(settings(brokers), { brokers: ['a:1', 'b:2'], topicPrefix: '', partitions: 6, ssl: false })
  assert.throws(() => settings({}), ConfigError)
})

test('SASL and TLS are read', () => {
  const secured = {
    ...brokers,
    KAFKA_TLS: 'true',
    KAFKA_SASL: 'scram-sha-512',
    KAFKA_USERNAME: 'rollcall',
    KAFKA_PASSWORD: 'word',
  }
  const { ssl, sasl } = settings(secured)
  assert.deepEqual(
    { ssl, sasl },
    { ssl: true, sasl: { mechanism: 'scram-sha-512', username: 'rollcall', password: 'word' } },
  )
  for (const missing of ['KAFKA_USERNAME', 'KAFKA_PASSWORD']) {
    assert.throws(() => loadConfig(schema, { ...secured, [missing]: '' }), {
      name: 'ConfigError',
      message: new RegExp(`^${missing} is missing`),
    })
  }
})

test('a prefix that is invalid in a topic name is refused', () => {
  assert.throws(() => settings({ ...brokers, TOPIC_PREFIX: 'a b' }), /^ConfigError: TOPIC_PREFIX is not usable/)
})
