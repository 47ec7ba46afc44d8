import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { deadLetterTopic, topics } from '@rollcall/bus'
import { parse, parseAllDocuments } from 'yaml'
import type { Secrets } from './check.ts'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const readme = readFileSync(join(deploy, 'README.md'), 'utf8')
const secrets = parse(readFileSync(join(import.meta.dirname, 'secrets.yaml'), 'utf8')) as Secrets
const values = parse(readFileSync(join(deploy, 'helm', 'rollcall', 'values.yaml'), 'utf8')) as Record<string, unknown>

describe('the guide to running in a cluster', () => {
  it('makes the Secrets that the chart refers to, and no others', () => {
    const made = readme.matchAll(/create secret generic (\S+) \\\n((?:.*\\\n)*.*\n)/g)
    for (const [, name = '', literals = ''] of made) {
      const keys = [...literals.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key)
      const optional = ['KAFKA_USERNAME', 'KAFKA_PASSWORD']
      assert.deepEqual(
        keys,
        Object.keys(secrets[name] ?? {}).filter(key => !optional.includes(key)),
        name,
      )
    }
    assert.equal(readme.match(/create secret generic .*\\$/gm)?.length, 3)
    assert.equal(readme.match(/^helm .*\binstall\b/gm)?.length, 1)
  })

  it('has Helm wait for as long as a migration may take', () => {
    const { activeDeadlineSeconds } = values.migrations as { activeDeadlineSeconds: number }
    const commands = [...readme.replaceAll(/ *\\\n */g, ' ').matchAll(/^helm .*?\b(install|upgrade) .*$/gm)]
    assert.deepEqual([...new Set(commands.map(([, verb]) => verb))], ['install', 'upgrade'])
    for (const [command, verb] of commands) {
      const [, minutes = 0] = / --wait --timeout (\d+)m /.exec(`${command} `) ?? []
      assert.ok(Number(minutes) * 60 > (verb === 'upgrade' ? activeDeadlineSeconds : 300), command)
    }
  })

  it('has every database send its events again when it was restored, and every topic made anew', () => {
    const services = Object.entries(values.services as Record<string, { stores: string[] }>)
    const storing = services.filter(([, { stores }]) => stores.includes('mongodb')).map(([name]) => name)
    const recipe = readme.slice(readme.indexOf('To restore,'), readme.indexOf('## Rotate keys'))
    const [, list = ''] = /for \(const service of \[(.*)\]\)/.exec(recipe) ?? []
    assert.deepEqual(list.replaceAll("'", '').split(', '), storing)
    for (const topic of Object.values(topics)) assert.ok(recipe.includes(`\`${topic}\``), topic)
  })

  it('speaks of values that there are', () => {
    const table = readme.slice(readme.indexOf('| values | for |'), readme.indexOf('`keys.generate=true`'))
    for (const [, path = ''] of table.matchAll(/`([a-z]\w*(?:\.[\w<>]+)*)`/g)) {
      assert.ok(path.split('.')[0]! in values, path)
    }
  })

  it('speaks of files that there are', () => {
    const files = [...readme.matchAll(/\]\(([\w/.-]+)\)/g), ...readme.matchAll(/`(deploy\/[\w/.-]+|test\/[\w/.-]+)`/g)]
    for (const [, file = ''] of files) {
      const path = /^(deploy|test)\//.test(file) ? join(deploy, '..', file) : join(deploy, file)
      assert.equal(globSync(path).length, 1, file)
    }
  })

  it('comes with examples that are YAML', () => {
    for (const file of globSync(join(deploy, 'examples', '*.yaml'))) {
      for (const { kind } of documentsOf(basename(file))) assert.ok(kind, file)
    }
  })

  it('has a Redis that shows no earlier state, and that asks who is there', () => {
    const documents = documentsOf('redis.yaml')
    const servers = documents.filter(({ kind }) => kind === 'Redis')
    const config = documents.find(({ kind }) => kind === 'ConfigMap')?.data?.['redis-additional.conf'] ?? ''
    assert.match(config, /^save ""\nappendonly no\nmaxmemory \d+mb\nmaxmemory-policy noeviction$/m)
    assert.equal(servers.length, 2)
    for (const { spec } of servers) {
      assert.ok(!('storage' in spec) && JSON.stringify(spec).includes('"redisSecret":{"name":"rollcall-redis"'))
    }
    assert.ok(documents.some(({ kind }) => kind === 'NetworkPolicy'))
    assert.equal(readme.match(/REDIS_\w+_URL='?redis:\/\/:PASSWORD@/g)?.length, readme.match(/REDIS_\w+_URL=/g)?.length)
  })
})

it('has an example of every topic there is', () => {
  type KafkaTopic = { topicName: string; partitions: number; replicas: number }
  const made = documentsOf('topics.yaml').map(({ spec }) => spec as KafkaTopic)
  const { partitions } = (values.stores as { kafka: { partitions: number } }).kafka
  const wanted = Object.values(topics).flatMap(topic => [
    { topicName: topic, partitions, replicas: 3 },
    { topicName: deadLetterTopic(topic), partitions: 1, replicas: 3 },
  ])
  assert.deepEqual(
    made.map(({ topicName, partitions, replicas }) => ({ topicName, partitions, replicas })),
    wanted,
  )
})

type Example = { kind?: string; data?: Record<string, string>; spec: object }

function documentsOf(example: string): Example[] {
  return parseAllDocuments(readFileSync(join(deploy, 'examples', example), 'utf8')).map(document => {
    assert.deepEqual(document.errors, [], example)
    return document.toJS() as Example
  })
}

type Compose = { services: Record<string, { build?: { args: { SERVICE: string } }; environment: NodeJS.ProcessEnv }> }
type ConfigModule = { readConfig(env: NodeJS.ProcessEnv): object }

describe('the stack of Compose', () => {
  const compose = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8'), { merge: true }) as Compose
  const built = Object.entries(compose.services).filter(([, { build }]) => build)

  it('has every service, and gives it what it needs to start', async () => {
    const folders = globSync(join(deploy, '..', 'services', '*')).map(folder => folder.replace(/.*\//, ''))
    assert.deepEqual(built.map(([name]) => name).sort(), folders.sort())
    for (const [name, { build, environment }] of built) {
      assert.equal(build?.args.SERVICE, name)
      const { readConfig } = (await import(join(deploy, '..', 'services', name, 'src', 'config.ts'))) as ConfigModule
      const texts = Object.entries(environment).map(([variable, value]) => [variable, String(value)])
      const owned = { ...secrets['rollcall-keys'], ...secrets['rollcall-owner'] }
      assert.doesNotThrow(() => readConfig({ ...Object.fromEntries(texts), ...owned }), name)
    }
  })
})
