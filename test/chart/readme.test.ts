import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { deadLetterTopic, topics } from '@rollcall/bus'
import { eventPublishers, isEventType } from '@rollcall/contract'
import { SERVICES } from '@rollcall/local'
import { consumedTopics, examples } from '@rollcall/local/examples'
import { keyName, readTrust } from '@rollcall/rpc/service-keys'
import { Types } from 'mongoose'
import { parse, parseAllDocuments } from 'yaml'
import { readSecrets } from './secrets.ts'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const readme = readFileSync(join(deploy, 'README.md'), 'utf8')
const secrets = readSecrets()
const values = parse(readFileSync(join(deploy, 'helm', 'rollcall', 'values.yaml'), 'utf8')) as Record<string, unknown>

/** The services that have a database. */
const storing = Object.entries(values.services as Record<string, { stores: string[] }>)
  .filter(([, { stores }]) => stores.includes('mongodb'))
  .map(([name]) => name)

const hasOpenssl = !spawnSync('openssl', ['version']).error
const settingsOf = (lines: string): Record<string, string> =>
  Object.fromEntries([...lines.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]))

it('has one list of services, which names every folder', () => {
  const programs = globSync(join(deploy, '..', 'services', '*', 'src', 'main.ts'))
  const folders = programs.map(program => basename(dirname(dirname(program))))
  assert.deepEqual(folders.sort(), [...SERVICES].sort())
  assert.deepEqual(Object.keys(values.services as object).sort(), [...SERVICES].sort())
})

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
    assert.equal(readme.match(/create secret generic .*\\$/gm)?.length, 2)
    assert.equal(readme.match(/^helm .*\binstall\b/gm)?.length, 1)
  })

  it('has a script make the keys, whole and each service its own', { skip: !hasOpenssl }, () => {
    assert.match(
      readme,
      /^deploy\/new-keys\.sh > keys\.env\n.*create secret generic rollcall-keys --from-env-file=keys\.env$/m,
    )
    const made = settingsOf(execFileSync(join(deploy, 'new-keys.sh'), { encoding: 'utf8' }))
    const ofAnotherService = 'ASSERTION_KEY_REPORTS'
    const wanted = Object.keys(secrets['rollcall-keys']!).filter(name => name !== ofAnotherService)
    assert.deepEqual(Object.keys(made).sort(), wanted.sort())
    const { ASSERTION_PUBLIC_KEYS = '' } = made
    for (const service of Object.keys(values.services as object)) {
      const ASSERTION_KEY = made[`ASSERTION_KEY_${service.toUpperCase()}`]!
      const { signingKey, publicKeys } = readTrust({ ASSERTION_KEY, ASSERTION_PUBLIC_KEYS })
      assert.equal(signingKey.service, service)
      assert.ok(publicKeys.has(keyName(service, signingKey.id)), service)
    }
    const next = settingsOf(execFileSync(join(deploy, 'new-keys.sh'), ['gateway'], { encoding: 'utf8' }))
    assert.deepEqual(Object.keys(next), ['ASSERTION_KEY_GATEWAY', 'ASSERTION_PUBLIC_KEYS'])
    assert.notEqual(next.ASSERTION_KEY_GATEWAY, made.ASSERTION_KEY_GATEWAY)
  })

  it('has keys made for the services that a release adds, and trusted beside the others', { skip: !hasOpenssl }, () => {
    const [, commands = ''] = /^If the release has new services[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readme) ?? []
    const [, added = ''] = /^deploy\/new-keys\.sh (.+) \|$/m.exec(commands) ?? []
    const older = SERVICES.filter(service => !added.split(' ').includes(service))
    const secret = settingsOf(execFileSync(join(deploy, 'new-keys.sh'), older, { encoding: 'utf8' }))
    const work = mkdtempSync(join(tmpdir(), 'readme-'))
    after(() => rmSync(work, { recursive: true }))
    symlinkSync(deploy, join(work, 'deploy'))
    const kubectl = `kubectl() { printf %s '${secret.ASSERTION_PUBLIC_KEYS}'; }`
    execFileSync('sh', ['-euc', `${kubectl}\n${commands}`], { cwd: work })
    const merged = { ...secret, ...settingsOf(readFileSync(join(work, 'keys.env'), 'utf8')) }
    const { ASSERTION_PUBLIC_KEYS = '' } = merged
    for (const service of SERVICES) {
      const ASSERTION_KEY = merged[`ASSERTION_KEY_${service.toUpperCase()}`]!
      const { signingKey, publicKeys } = readTrust({ ASSERTION_KEY, ASSERTION_PUBLIC_KEYS })
      assert.ok(publicKeys.has(keyName(service, signingKey.id)), service)
    }
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

  it('publishes the events of every database again when it was restored, and recreates every topic', () => {
    const recipe = readme.slice(readme.indexOf('To restore,'), readme.indexOf('## Rotate keys'))
    const [, names] = /filter: \{ name: \/(.+)\/ \}/.exec(recipe) ?? []
    assert.ok(names && recipe.includes('`<service>.events`'))
    assert.deepEqual(
      [...SERVICES.map(name => `rollcall_${name}`), 'admin'].filter(name => !new RegExp(names).test(name)),
      ['admin'],
    )
    for (const topic of Object.values(topics)) assert.match(topic, /^[a-z]+\.events$/)
  })

  it('saves who was erased since the backup before the event log is overwritten', () => {
    const [before = ''] = readme.slice(readme.indexOf('To restore,')).split('Restore MongoDB with')
    const [, script = ''] = /--eval '\n([\s\S]+?)' > erased\.txt$/m.exec(before) ?? []
    const event = { organization: new Types.ObjectId(), subject: { id: String(new Types.ObjectId()) } }
    const printed: string[] = []
    const find = ({ type, at }: { type: string; at: { $gte: Date } }) => {
      assert.ok(isEventType(type) && at.$gte < new Date())
      return [event]
    }
    const databases = new Map([['rollcall_webhooks', { events: { find } }]])
    const db = { getSiblingDB: (name: string) => databases.get(name) }
    new Function('db', 'print', script)(db, (line: string) => printed.push(line))
    assert.deepEqual(printed, [`${event.organization} ${event.subject.id}`])
  })

  it('speaks of values that there are', () => {
    const table = readme.slice(readme.indexOf('| values | for |'), readme.indexOf('`keys.generate=true`'))
    for (const [, path = ''] of table.matchAll(/`([a-z]\w*(?:\.[\w<>]+)*)`/g)) {
      assert.ok(path.split('.')[0]! in values, path)
    }
  })

  it('lets ingress-nginx accept uploads of the size that the gateway accepts', () => {
    const [, mebibytes] = /`nginx\.ingress\.kubernetes\.io\/proxy-body-size: (\d+)m`/.exec(readme) ?? []
    const { gateway } = values.services as Record<string, { settings: { UPLOAD_MAX_BYTES: number } }>
    assert.ok(Number(mebibytes) * 2 ** 20 > gateway!.settings.UPLOAD_MAX_BYTES, 'a form is larger than its file')
  })

  it('names the rules that let the gateway reach servers of tenants', () => {
    assert.match(readme, /^\| `services\.gateway\.settings\.TENANT_SERVERS`.* `services\.gateway\.egress`/m)
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

  it('comes with examples of every service', () => {
    for (const [file, text] of examples())
      assert.equal(readFileSync(join(deploy, 'examples', file), 'utf8'), text, 'run npm run examples')
  })

  it('has a MongoDB user that owns the databases of services, and no others', () => {
    const { users } = documentsOf('mongodb.yaml')[0]!.spec as { users: { roles: { db: string }[] }[] }
    assert.deepEqual(users[0]!.roles.map(({ db }) => db).sort(), storing.map(name => `rollcall_${name}`).sort())
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

it('has Kafka users that write their own topic alone, and dead letters of what they read', () => {
  type Acl = { resource: { type: string; name?: string }; operations: string[] }
  type KafkaUser = { metadata: { name: string }; spec: { authorization: { acls: Acl[] } } }
  const users = documentsOf('kafka.yaml').filter(({ kind }) => kind === 'KafkaUser') as unknown as KafkaUser[]
  const topicsOf = ({ spec }: KafkaUser, operation: string) =>
    spec.authorization.acls
      .filter(({ resource, operations }) => resource.type === 'topic' && operations.includes(operation))
      .map(({ resource }) => resource.name ?? '')
  for (const context of eventPublishers) {
    const topic = topics[context]
    const user = users.find(({ metadata }) => metadata.name === `rollcall-${context}`) ?? assert.fail(context)
    const read = topicsOf(user, 'Read')
    assert.deepEqual(topicsOf(user, 'Write').sort(), [topic, ...read.map(deadLetterTopic)].sort())
    assert.ok(!topicsOf(user, 'Create').length && !topicsOf(user, 'All').length)
    assert.deepEqual(read.sort(), consumedTopics(context).sort(), context)
  }
})

it('has an example of every topic there is', () => {
  type KafkaTopic = { topicName: string; partitions: number; replicas: number }
  const made = documentsOf('topics.yaml').map(({ spec }) => spec as KafkaTopic)
  const { partitions } = (values.stores as { kafka: { partitions: number } }).kafka
  const byName = (a: { topicName: string }, b: { topicName: string }) => a.topicName.localeCompare(b.topicName)
  const wanted = Object.values(topics).flatMap(topic => [
    { topicName: topic, partitions, replicas: 3 },
    { topicName: deadLetterTopic(topic), partitions: 1, replicas: 3 },
  ])
  assert.deepEqual(
    made.map(({ topicName, partitions, replicas }) => ({ topicName, partitions, replicas })).sort(byName),
    wanted.sort(byName),
  )
})

type Example = { kind?: string; data?: Record<string, string>; spec: object }

function documentsOf(example: string): Example[] {
  return parseAllDocuments(readFileSync(join(deploy, 'examples', example), 'utf8')).map(document => {
    assert.deepEqual(document.errors, [], example)
    return document.toJS() as Example
  })
}

type Compose = {
  services: Record<
    string,
    { build?: { args: { SERVICE: string } }; environment: NodeJS.ProcessEnv; env_file?: { path: string }[] }
  >
}
type ConfigModule = { readConfig(env: NodeJS.ProcessEnv): object }

describe('the stack of Compose', () => {
  const owned: Record<string, string> = { ...secrets['rollcall-keys'], ...secrets['rollcall-owner'] }
  const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8')
  const filledIn = text.replaceAll(/\$\{(\w+)-\}/g, (_, name: string) =>
    JSON.stringify(owned[name] ?? assert.fail(name)),
  )
  const compose = parse(filledIn, { merge: true }) as Compose
  const built = Object.entries(compose.services).filter(([, { build }]) => build)

  it('has every service, and gives it what it needs to start', async () => {
    assert.deepEqual(built.map(([name]) => name).sort(), [...SERVICES].sort())
    for (const [name, { build, environment }] of built) {
      assert.equal(build?.args.SERVICE, name)
      const { readConfig } = (await import(join(deploy, '..', 'services', name, 'src', 'config.ts'))) as ConfigModule
      const texts = Object.entries(environment).map(([variable, value]) => [variable, String(value)])
      assert.doesNotThrow(() => readConfig(Object.fromEntries(texts)), name)
    }
  })

  it('gives each service the keys that the chart gives it, and no file of secrets that others read', () => {
    const services = values.services as Record<string, { keys: string[] }>
    for (const [name, { environment, env_file: files = [] }] of built) {
      const given = Object.keys(environment).filter(variable => /_KEYS?$/.test(variable))
      assert.deepEqual(given.sort(), [...services[name]!.keys, 'ASSERTION_PUBLIC_KEYS'].sort(), name)
      assert.equal(environment.ASSERTION_KEY?.split(':')[0], name)
      assert.equal('BOOTSTRAP_PASSWORD' in environment, name === 'identity')
      assert.deepEqual(
        files.map(({ path }) => path),
        [`${name}.env`],
      )
    }
  })
})
