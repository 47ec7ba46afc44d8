import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { baseConfig, ConfigError, flag, list, loadConfig, milliseconds, port, secret, urlOf, whole } from './config.ts'

const schema = z.object({
  ...baseConfig,
  PORT: port(),
  STORE_URL: urlOf('mongodb', 'mongodb+srv'),
  SIGNING_KEY: secret(16),
  BROKERS: list(),
  SECURE: flag().default(true),
  TIMEOUT_MS: milliseconds().default(1000),
  CONCURRENCY: whole(1, 64).default(4),
})

const usable = { PORT: '8080', STORE_URL: 'mongodb://a:1,b:2/name', SIGNING_KEY: 'x'.repeat(16), BROKERS: 'a:1, b:2,' }

const refusal = (env: NodeJS.ProcessEnv): string[] => {
  try {
    loadConfig(schema, { ...usable, ...env })
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message.split('\n')
  }
  return []
}

test('a usable environment is read, with defaults, and nothing but the schema’s own', () => {
  const config = loadConfig(schema, { ...usable, SECURE: 'false', LOG_LEVEL: '', PATH: '/bin' })
  assert.deepEqual(config, {
    LOG_LEVEL: 'info',
    LISTEN_HOST: '127.0.0.1',
    INTERNAL_PORT: 0,
    SHUTDOWN_GRACE_MS: 25_000,
    OTEL_TRACES_SAMPLER_ARG: 1,
    SHUTDOWN_DRAIN_MS: 0,
    PORT: 8080,
    STORE_URL: 'mongodb://a:1,b:2/name',
    SIGNING_KEY: 'x'.repeat(16),
    BROKERS: ['a:1', 'b:2'],
    SECURE: false,
    TIMEOUT_MS: 1000,
    CONCURRENCY: 4,
  })
})

test('every bad variable is named on a line of its own, with what was expected', () => {
  assert.deepEqual(
    refusal({ PORT: '70000', STORE_URL: 'http://a', TIMEOUT_MS: 'soon', CONCURRENCY: '0', SECURE: 'si' }),
    [
      'PORT is not usable: expected a port, 0 to 65535',
      'STORE_URL is not usable: expected a URL (mongodb, mongodb+srv)',
      'SECURE is not usable: expected true or false',
      'TIMEOUT_MS is not usable: expected a whole number of milliseconds, at most a day',
      'CONCURRENCY is not usable: expected a whole number from 1 to 64',
    ],
  )
})

test('a missing or blank variable is called missing', () => {
  assert.deepEqual(refusal({ PORT: '', SIGNING_KEY: undefined, BROKERS: '' }), [
    'PORT is missing: expected a port, 0 to 65535',
    'SIGNING_KEY is missing: expected a secret of at least 16 characters',
    'BROKERS is missing: expected values separated by commas',
  ])
})

test('numbers are taken whole and plain', () => {
  for (const value of ['1.5', '-1', '1e9', 'NaN', 'Infinity', ' ', 'true', '0x10']) {
    assert.equal(refusal({ PORT: value }).length, 1, value)
  }
})

test('a URL needs one of the schemes, to the letter, and a host', () => {
  for (const url of ['mongodb://a', 'mongodb+srv://user:word@a/name', 'mongodb://a:1,b:2/?x=y']) {
    assert.deepEqual(refusal({ STORE_URL: url }), [], url)
  }
  for (const url of ['mongodbbsrv://a', 'mongodb://', 'mongodb:///name', 'redis://a', 'a', 'x mongodb://a']) {
    assert.equal(refusal({ STORE_URL: url }).length, 1, url)
  }
})

test('no value is ever printed', () => {
  const hidden = 'hunter2'
  const message = refusal({
    SIGNING_KEY: hidden,
    STORE_URL: `ftp://user:${hidden}@host`,
    PORT: hidden,
    LOG_LEVEL: hidden,
  })
  assert.equal(message.length, 4)
  assert.ok(!message.join().includes(hidden))
})
