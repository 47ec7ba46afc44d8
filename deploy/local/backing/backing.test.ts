import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { MongoClient } from 'mongodb'
import { freePort, LOCALHOST } from '../ports.ts'
import { type BackingOptions, startBacking } from './index.ts'

const root = mkdtempSync(join(tmpdir(), 'backing-'))
after(() => rmSync(root, { recursive: true }))
const cacheDir = process.env.CACHE_DIR ?? join(import.meta.dirname, '..', '..', '..', '.cache')
const lines: string[] = []
const start = (options: Partial<BackingOptions>) =>
  startBacking({
    cacheDir,
    dataDir: mkdtempSync(join(root, 'data-')),
    env: {},
    log: line => lines.push(line),
    ...options,
  })

test('data survives a stop and a start on another port', async () => {
  const dataDir = mkdtempSync(join(root, 'data-'))
  const words = async (url: string, write: boolean) => {
    await using client = new MongoClient(url)
    const collection = client.db('kept').collection('words')
    if (write) await collection.insertOne({ word: 'kept' })
    return await collection.countDocuments({ word: 'kept' })
  }
  for (const write of [true, false]) {
    const backing = await start({ dataDir, only: ['mongodb'], ports: { mongodb: await freePort() } })
    try {
      assert.equal(await words(backing.env.MONGODB_URL, write), 1)
      assert.match(backing.describe.join(), /^mongodb +(SecantusDB|MongoDB) \S+ on 127\.0\.0\.1:\d+$/)
      await assert.rejects(start({ dataDir, only: [] }), { name: 'Problem', message: /in use by another run/ })
    } finally {
      await backing.stop()
    }
  }
})

test('a URL in the environment is used as it is, and only the rest is started', async () => {
  const other = await start({ only: ['redis'] })
  try {
    const env = { REDIS_CACHE_URL: other.env.REDIS_CACHE_URL }
    const backing = await start({ only: ['redis'], env })
    assert.equal(backing.env.REDIS_CACHE_URL, env.REDIS_CACHE_URL)
    assert.notEqual(new URL(backing.env.REDIS_QUEUE_URL).port, new URL(env.REDIS_CACHE_URL).port)
    await backing.stop()
  } finally {
    await other.stop()
  }
})

test('an unreachable URL is named, without its password', async () => {
  const port = await freePort()
  const env = {
    MONGODB_URL: `mongodb://someone:secret@${LOCALHOST}:${port}`,
    KAFKA_BROKERS: `${LOCALHOST}:${port}`,
    REDIS_CACHE_URL: `redis://:secret@${LOCALHOST}:${port}`,
    REDIS_QUEUE_URL: `redis://:secret@${LOCALHOST}:${port}`,
  }
  for (const [only, variable] of [
    ['mongodb', 'MONGODB_URL'],
    ['kafka', 'KAFKA_BROKERS'],
    ['redis', 'REDIS_CACHE_URL'],
  ]) {
    await assert.rejects(start({ only: [only ?? ''], env }), ({ name, message }: Error) => {
      assert.equal(name, 'Problem')
      assert.match(message, new RegExp(`^${variable} \\(.*ECONNREFUSED.*unset ${variable}`))
      return !message.includes('secret')
    })
  }
})

test('a port that is taken is named before anything is started', async () => {
  const server = createServer().listen(0, LOCALHOST)
  const port = await new Promise<number>(resolve => {
    server.once('listening', () => resolve((server.address() as { port: number }).port))
  })
  await assert.rejects(start({ only: ['redis'], ports: { redis: port } }), {
    name: 'Problem',
    message: `port ${port} is taken by another program: stop that program, or set the port of redis to another port`,
  })
  server.close()
})

test('a missing tool is named, with what to do', async () => {
  const { PATH, JAVA_HOME } = process.env
  const cacheDir = mkdtempSync(join(root, 'empty-cache-'))
  process.env.PATH = '/nowhere'
  delete process.env.JAVA_HOME
  try {
    for (const [name, message] of [
      ['mongodb', /^mongodb: python3 is missing .*MONGODB_URL/],
      ['kafka', /^kafka: java is missing .*KAFKA_BROKERS/],
      ['redis', /^redis: python3 is missing .*REDIS_CACHE_URL/],
    ] as const) {
      await assert.rejects(start({ only: [name], cacheDir }), { name: 'Problem', message })
    }
  } finally {
    process.env.PATH = PATH
    if (JAVA_HOME) process.env.JAVA_HOME = JAVA_HOME
  }
})

test('a failed start cancels the others, and none is left running', async () => {
  const server = createServer().listen(0, LOCALHOST)
  const port = await new Promise<number>(resolve => {
    server.once('listening', () => resolve((server.address() as { port: number }).port))
  })
  const dataDir = mkdtempSync(join(root, 'data-'))
  await assert.rejects(start({ dataDir, only: ['mongodb', 'redis'], ports: { redis: port } }), /is taken/)
  server.close()
  const backing = await start({ dataDir, only: ['mongodb', 'redis'] })
  await backing.stop()
})

test('a cancelled start rejects with the reason', async () => {
  const controller = new AbortController()
  const starting = start({ only: ['mongodb', 'redis'], signal: controller.signal })
  controller.abort(new Error('enough'))
  await assert.rejects(starting, /enough/)
})
