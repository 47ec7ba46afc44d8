import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { SERVICES } from '@rollcall/local'
import { keyName, readTrust } from '@rollcall/rpc/service-keys'
import { Ajv } from 'ajv'
import { parse, stringify } from 'yaml'
import { environmentOf, faultsOf, type Pod, podsOf } from './check.ts'
import { openDoors } from './production.ts'
import { REFUSED } from './refused.ts'
import { CHART, lint, type Manifest, render } from './render.ts'
import { readSecrets } from './secrets.ts'
import { HELMS, obtainTools, type Tools, toolsCache } from './tools.ts'

/** The newest, and the oldest that Chart.yaml promises. */
const MINORS = ['1.37', '1.30']
const here = import.meta.dirname
const services = join(here, '..', '..', 'services')
const run = promisify(execFile)
const work = mkdtempSync(join(tmpdir(), 'chart-'))
after(() => rmSync(work, { recursive: true }))

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'))
const readme = readFileSync(join(CHART, '..', '..', 'README.md'), 'utf8')
const secrets = readSecrets()
const profiles = readdirSync(join(here, 'profiles')).map(file => basename(file, '.yaml'))
const profileFile = (profile: string) => join(here, 'profiles', `${profile}.yaml`)

const obtained = await obtainTools(toolsCache(line => console.error(line)))
const skip = 'missing' in obtained && `the chart is NOT CHECKED: this machine has no ${obtained.missing}`
if (skip) console.error(`\n*** ${skip} ***\n`)
const tools = obtained as Tools
const newest = tools.helm?.['helm-v4']

/** The objects of each profile, rendered by the newest Helm for the newest Kubernetes. */
const releases = new Map<string, Manifest[]>()
if (!skip) {
  for (const profile of profiles) releases.set(profile, await render(newest, profileFile(profile), `${MINORS[0]}.0`))
}
const release = (profile: string) => releases.get(profile) ?? assert.fail(`no profile ${profile}`)

it('can be checked', { skip: !process.env.CI && skip }, () => assert.equal(skip, false))

it('fails in CI, and there alone, where it cannot be checked', async () => {
  const pattern = ['--test-name-pattern', '^can be checked$', import.meta.filename]
  const checkIn = (CI: string) =>
    run(process.execPath, pattern, { env: { ...process.env, NODE_TEST_CONTEXT: '', PATH: work, CI } })
  await checkIn('')
  await assert.rejects(checkIn('true'), /NOT CHECKED/)
})

describe('the chart', { skip, concurrency: 2 }, () => {
  for (const helm of HELMS) {
    for (const profile of profiles) {
      it(`is what it should be by ${helm} with the profile ${profile}`, async () => {
        // The others are compared with the newest of both.
        for (const minor of helm === 'helm-v4' ? MINORS.slice(1) : MINORS.slice(0, 1)) {
          await lint(tools.helm[helm], profileFile(profile), `${minor}.0`)
          const objects = await render(tools.helm[helm], profileFile(profile), `${minor}.0`)
          assert.deepEqual(withoutData(objects), withoutData(release(profile)))
        }
      })
    }
  }

  for (const minor of MINORS) {
    it(`is valid for Kubernetes ${minor}, to the last field`, async () => {
      const objects = new Set(
        profiles
          .flatMap(release)
          .filter(isBuiltIn)
          .map(object => stringify(object)),
      )
      const file = join(work, `objects-${minor}.yaml`)
      writeFileSync(file, [...objects].join('---\n'))
      const { stdout, stderr } = await validate(minor, [file])
      assert.equal(`${stdout}${stderr}`.match(/ passed for resource /g)?.length, objects.size)
      console.log(`kubernetes-validate: ${objects.size} different objects are valid for ${minor}`)
    })
  }

  it('would report an unknown field', async () => {
    const file = join(work, 'unknown.yaml')
    writeFileSync(file, 'apiVersion: v1\nkind: Service\nmetadata: { name: x }\nspec: { prots: [] }\n')
    await assert.rejects(validate(MINORS[0]!, [file]), /prots/)
  })

  it('makes custom resources as their definitions have them', () => {
    const custom = profiles.flatMap(release).filter(object => !isBuiltIn(object))
    assert.deepEqual(
      new Set(custom.map(({ kind }) => kind)),
      new Set(['HTTPRoute', 'ServiceMonitor', 'PrometheusRule', 'Certificate']),
    )
    for (const object of custom) assert.deepEqual(customFaults(object), [], object.kind)
    assert.notDeepEqual(customFaults({ ...custom[0]!, spec: { unknown: true } as unknown as Manifest['spec'] }), [])
  })

  for (const profile of profiles) {
    it(`holds together with the profile ${profile}`, () => {
      assert.deepEqual(faultsOf(release(profile), secrets), [])
    })
  }
})

describe('the profile for production', { skip }, () => {
  it('has calls and events encrypted, with a proof of who is at either end, and images that cannot change', () => {
    assert.deepEqual(openDoors(release('production')), [])
  })

  it('is distinguished from one that has not', () => {
    const open = openDoors(release('minimal')).join('\n')
    for (const what of [/gateway talks in the clear/, /audience reaches Kafka in the clear/, /import is an image that/])
      assert.match(open, what)
  })
})

describe('the keys of the services', { skip }, () => {
  for (const profile of profiles) {
    it(`are of each its own with the profile ${profile}`, () => {
      const pods = podsOf(release(profile)).filter(({ owner }) => owner.kind === 'Deployment')
      for (const pod of pods) {
        const service = pod.labels['app.kubernetes.io/component']!
        const { ASSERTION_KEY = '', ASSERTION_PUBLIC_KEYS = '' } = environmentOf(pod, secrets)
        assert.equal(readTrust({ ASSERTION_KEY, ASSERTION_PUBLIC_KEYS }).signingKey.service, service)
      }
    })
  }

  it('fit together where the chart makes them', () => {
    const { data = {} } = release('generated-keys').find(({ kind }) => kind === 'Secret')!
    const decoded = Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
    )
    for (const service of SERVICES) {
      const ASSERTION_KEY = decoded[`ASSERTION_KEY_${service.toUpperCase()}`]!
      const { ASSERTION_PUBLIC_KEYS = '' } = decoded
      const { signingKey, publicKeys } = readTrust({ ASSERTION_KEY, ASSERTION_PUBLIC_KEYS })
      assert.ok(publicKeys.has(keyName(service, signingKey.id)), service)
    }
  })

  it('are missed before an upgrade, and those that are there are not', async () => {
    const { data = {} } = release('generated-keys').find(({ kind }) => kind === 'Secret')!
    const added = ['ASSERTION_KEY_CONTENT', 'LINK_KEYS']
    const older = Object.fromEntries(Object.entries(data).filter(([name]) => !added.includes(name)))
    const says = `the Secret rollcall-keys has no ${added.join(', ')}: add what is missing`
    assert.equal(await unitTests(upgradeSuite(older, true, { failedTemplate: { errorPattern: says } })), 1)
    assert.equal(await unitTests(upgradeSuite(data, false, { hasDocuments: { count: 0 } })), 1)
  })
})

describe('the figures of the guide', { skip }, () => {
  const scalerOf = ({ owner }: Pod) =>
    release('minimal').find(({ spec }) => spec?.scaleTargetRef?.name === owner.metadata.name)?.spec ?? assert.fail()
  const servers = () => podsOf(release('minimal')).filter(({ owner }) => owner.kind === 'Deployment')

  it('are what the pods of each service request', () => {
    const [, pods, cpu, memory] =
      /^Each service starts with (\d+) pods, which request (\d+m) of CPU and (\d+Mi)/m.exec(readme) ?? []
    for (const pod of servers()) {
      assert.equal(scalerOf(pod).minReplicas, Number(pods), pod.owner.metadata.name)
      assert.deepEqual(pod.container.resources!.requests, { cpu, memory }, pod.owner.metadata.name)
    }
  })

  it('are the connections that the pods of a service open to MongoDB', () => {
    const [, connections] = /of one service are up to (\d+) on the primary/.exec(readme) ?? []
    for (const pod of servers()) {
      const { MONGODB_POOL_SIZE } = environmentOf(pod, secrets)
      if (MONGODB_POOL_SIZE)
        assert.equal(scalerOf(pod).maxReplicas! * (Number(MONGODB_POOL_SIZE) + 2), Number(connections))
    }
  })
})

describe('a migration before its upgrade', { skip }, () => {
  it('is the Job of one service, and the network policy that lets it reach the database', async () => {
    const lines = readme.replaceAll(/ *[\\|]\n */g, ' ')
    const [, command = '', labels = ''] = /helm -n rollcall template (.*) kubectl .*apply -l (\S+)/.exec(lines) ?? []
    const flags = command.match(/--set (\S+)/g) ?? []
    const objects = await render(
      newest,
      profileFile('minimal'),
      `${MINORS[0]}.0`,
      ...flags.flatMap(flag => flag.split(' ')),
    )
    const { services } = read(join(CHART, 'values.yaml')) as { services: Record<string, { migrates?: boolean }> }
    for (const service of SERVICES.filter(name => services[name]?.migrates)) {
      const wanted = labels
        .replace('audience', service)
        .split(',')
        .map(label => label.split('='))
      const applied = objects.filter(({ metadata }) =>
        wanted.every(([key = '', value]) => metadata.labels[key] === value),
      )
      assert.deepEqual(applied.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
        `Job crm-rollcall-${service}-migration`,
        `NetworkPolicy crm-rollcall-${service}-tasks`,
      ])
      const [migration] = podsOf(applied)
      assert.match(migration!.container.image, /:0\.2\.0$/)
    }
  })
})

describe('a restore', { skip }, () => {
  it('starts messaging at the second upgrade, after people were erased again', async () => {
    const recipe = readme.slice(readme.indexOf('To restore,'), readme.indexOf('## Rotate keys'))
    const lines = recipe.replaceAll(/ *\\\n */g, ' ')
    const upgrades = [...lines.matchAll(/^helm .*\bupgrade .*$|\/erase"/gm)].map(([line]) => line)
    const [first = '', erasure, second = ''] = upgrades
    assert.ok(erasure === '/erase"' && upgrades.length === 3)
    const flagsOf = (command: string) => command.match(/--set \S+/g) ?? []
    assert.deepEqual(
      flagsOf(second), // Helm removes what was set before
      flagsOf(first).map(flag => flag.replace(/=.*/, '=null')),
    )
    const flags = flagsOf(first).flatMap(flag => flag.split(' '))
    const objects = await render(newest, profileFile('one-node'), `${MINORS[0]}.0`, ...flags)
    const replicas = objects
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => [metadata.labels['app.kubernetes.io/component'], spec.replicas])
    assert.deepEqual(Object.fromEntries(replicas), {
      ...Object.fromEntries(SERVICES.map(service => [service, 1])),
      messaging: 0,
    })
  })
})

describe('the check of what holds together', { skip }, () => {
  for (const [what, expected, spoil] of SPOILT()) {
    it(`finds ${what}`, () => {
      const objects = structuredClone(release('production'))
      spoil(objects)
      const faults = faultsOf(objects, secrets)
      assert.ok(
        faults.some(fault => expected.test(fault)),
        `${expected} is not in ${JSON.stringify(faults)}`,
      )
    })
  }
})

describe('the settings', { skip }, () => {
  const known = skip ? [] : SERVICES
  const variablesOfNode = new Set(['NODE_OPTIONS', 'NODE_NO_WARNINGS', 'NODE_EXTRA_CA_CERTS'])

  it('are of the services there are', () => {
    const values = read(join(CHART, 'values.yaml')) as { services: Record<string, { migrates?: boolean }> }
    assert.deepEqual(Object.keys(values.services).sort(), [...known].sort())
    const count = (wanted: string) => release('minimal').filter(({ kind }) => kind === wanted).length
    assert.equal(count('Deployment'), known.length)
    assert.equal(count('Job'), known.filter(name => values.services[name]?.migrates).length + 1) // one makes the topics
  })

  for (const service of known) {
    it(`are all that ${service} reads, and no others`, async () => {
      const wanted = await variablesRead(service)
      const given = new Set<string>()
      for (const profile of profiles) {
        for (const pod of podsOf(release(profile)).filter(isOf(service))) {
          for (const { name } of pod.container.env ?? []) if (!variablesOfNode.has(name)) given.add(name)
        }
      }
      assert.deepEqual(
        [...given].filter(name => !wanted.has(name)),
        [],
        'given, and not read',
      )
      assert.deepEqual(
        [...wanted].filter(name => !given.has(name) && !LEFT_OUT.has(name)),
        [],
        'read, and given in no profile',
      )
    })

    it(`are such that ${service} starts with them`, async () => {
      const { readConfig } = await configOf(service)
      for (const profile of profiles) {
        for (const pod of podsOf(release(profile)).filter(isOf(service))) {
          const { RPC_TLS_DIR: _, ...environment } = environmentOf(pod, secrets) // its files are not here
          assert.doesNotThrow(() => readConfig(environment), `${profile}: ${pod.name}`)
        }
      }
    })

    it(`are by default what ${service} takes by itself`, async () => {
      const { readConfig } = await configOf(service)
      const settings = (read(join(CHART, 'values.yaml')) as Values).services[service]?.settings ?? {}
      const environment = environmentOf(podsOf(release('minimal')).find(isOf(service))!, secrets)
      const isOwn = (name: string) => name in settings && !OF_CONSOLE.has(name)
      const plain = Object.fromEntries(Object.entries(environment).filter(([name]) => !isOwn(name)))
      assert.deepEqual(comparable(readConfig(environment)), comparable(readConfig(plain)))
    })
  }
})

describe('bad values', { skip }, () => {
  it(`are refused, ${REFUSED.length} of them, each with a clear message`, async () => {
    const passed = await unitTests(refusalSuite(REFUSED))
    assert.ok(passed === REFUSED.length && passed >= 20)
  })

  it('are those without one of the services that the gateway routes to', async () => {
    const without = SERVICES.map((service): (typeof REFUSED)[number] => [
      `${service} is off`,
      { services: { [service]: { enabled: false } } },
      new RegExp(`services.${service} is off`),
    ])
    assert.equal(await unitTests(refusalSuite(without)), without.length)
  })

  it('are distinguished from correct ones', async () => {
    await assert.rejects(unitTests(refusalSuite([['nothing wrong', { logLevel: 'debug' }, /./]])), /nothing wrong/)
  })

  for (const helm of HELMS) {
    it(`are refused by ${helm}`, async () => {
      const file = join(work, `${helm}-refuses.yaml`)
      writeFileSync(file, stringify({ services: { gateway: { replica: 3 } } }))
      await assert.rejects(render(tools.helm[helm], file, `${MINORS[0]}.0`), /'replica' not allowed/)
    })
  }
})

it('passes its unit tests', { skip }, async () => {
  const passed = await unitTests(join(here, 'unit', '*_test.yaml'))
  assert.ok(passed > 10)
})

/** Runs suites of helm-unittest and returns how many tests passed; rejects with its output if one fails. */
async function unitTests(suites: string): Promise<number> {
  const { stdout } = await run(tools.helmUnittest, ['--strict', '-f', relative(CHART, suites), CHART]).catch(
    (error: Error & { stdout: string }) => {
      throw new Error(error.stdout)
    },
  )
  return Number(/^Tests: +(\d+) passed, \1 total$/m.exec(stdout)?.[1])
}

/** Writes a suite in which each of the values must be rejected, so that one process checks all. */
function refusalSuite(refused: typeof REFUSED): string {
  const tests = refused.map(([what, values, says]) => ({
    it: what,
    set: { image: { registry: 'registry.example.com' }, ...values },
    asserts: [{ failedTemplate: { errorPattern: `(?s)${says.source.replaceAll('\\/', '/')}` } }],
  }))
  const file = join(work, `refused-${refused.length}_test.yaml`)
  writeFileSync(file, stringify({ suite: 'bad values', templates: ['*.yaml'], tests }))
  return file
}

/** Writes a suite that upgrades a release whose Secret has these keys. */
function upgradeSuite(data: Record<string, string>, generate: boolean, expected: object): string {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'rollcall-keys', namespace: 'people' }, data }
  const resource = { gvr: { version: 'v1', resource: 'secrets' }, namespaced: true }
  const test = {
    it: 'looks for the keys',
    set: { image: { registry: 'registry.example.com' }, keys: { generate } },
    release: { name: 'crm', namespace: 'people', upgrade: true },
    kubernetesProvider: { scheme: { 'v1/Secret': resource }, objects: [secret] },
    asserts: [expected],
  }
  const file = join(work, 'upgrade_test.yaml')
  writeFileSync(file, stringify({ suite: 'an upgrade', templates: ['keys.yaml'], tests: [test] }))
  return file
}

/** Variables that have no use in a cluster. */
const LEFT_OUT = new Set(['MAIL_DIR'])
/** Settings that name the console. The chart has one; a service by itself does not. */
const OF_CONSOLE = new Set(['CONSOLE_URL'])

type Values = { services: Record<string, { settings?: object }> }
type ConfigModule = { readConfig(env: NodeJS.ProcessEnv): object }

const configOf = (service: string) => import(join(services, service, 'src', 'config.ts')) as Promise<ConfigModule>

/** Returns the variables that a service's config.ts reads. */
async function variablesRead(service: string): Promise<Set<string>> {
  const { readConfig } = await configOf(service)
  const names = new Set<string>()
  const listening = new Proxy({}, { get: (_, name) => void names.add(String(name)) })
  assert.throws(() => readConfig(listening), { name: 'ConfigError' })
  return names
}

/** Keys and similar settings have no content to compare. */
const comparable = (config: object): object => JSON.parse(JSON.stringify(config)) as object

function isOf(service: string) {
  const ownsProgram = ({ container }: Pod) => container.args === undefined || container.args[0] === 'migrate'
  return (pod: Pod) => pod.labels['app.kubernetes.io/component'] === service && ownsProgram(pod)
}

/** Random keys differ each time. */
const withoutData = (objects: readonly Manifest[]) =>
  objects.map(object => (object.kind === 'Secret' ? { ...object, data: Object.keys(object.data ?? {}) } : object))

function isBuiltIn({ apiVersion }: Manifest): boolean {
  return !/^(monitoring\.coreos\.com|gateway\.networking\.k8s\.io|cert-manager\.io)\//.test(apiVersion)
}

function validate(minor: string, files: string[]) {
  const args = ['-m', 'kubernetes_validate', '--strict', '-k', minor, ...files]
  const env = { ...process.env, PYTHONPATH: tools.pythonPath }
  return run('python3', args, { env, maxBuffer: 2 ** 24 }).catch(
    (error: Error & { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}${error.stderr}`)
    },
  )
}

type Definition = {
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Record<string, unknown> } }[] }
}

/** Returns the violations of a custom resource against its definition, including unknown fields. */
function customFaults(object: Manifest): string[] {
  const definitions = readdirSync(tools.definitions).map(file => read(join(tools.definitions, file)) as Definition)
  const definition = definitions.find(({ spec }) => spec.names.kind === object.kind)
  const version = definition?.spec.versions.find(({ name }) => object.apiVersion.endsWith(`/${name}`))
  if (!version) return [`no definition of ${object.apiVersion} ${object.kind}`]
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, code: { regExp: goRegExp } })
  const check = ajv.compile(closed(version.schema.openAPIV3Schema) as object)
  return check(object) ? [] : (check.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}

/** Compiles patterns of definitions, which Go reads: they contain their flag to ignore case. */
const goRegExp = Object.assign(
  (pattern: string, flags: string) =>
    new RegExp(pattern.replace('(?i)', ''), pattern.includes('(?i)') ? `${flags}i` : flags),
  { code: 'goRegExp' },
)

/** Returns the schema without room for unknown fields. The API server checks metadata. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isOpen = 'additionalProperties' in copy || copy['x-kubernetes-preserve-unknown-fields'] === true
  return copy.properties && copy.type === 'object' && !isOpen ? { ...copy, additionalProperties: false } : copy
}

/** Releases whose objects are each valid, but which do not work. */
function SPOILT(): [what: string, expected: RegExp, spoil: (objects: Manifest[]) => void][] {
  const find = (objects: Manifest[], kind: string, name: RegExp) =>
    objects.find(object => object.kind === kind && name.test(object.metadata.name)) ?? assert.fail(`${kind} ${name}`)
  const containerOf = (objects: Manifest[], name: RegExp) =>
    find(objects, 'Deployment', name).spec.template!.spec.containers[0]!
  const remove = (objects: Manifest[], kind: string, name: RegExp) =>
    void objects.splice(objects.indexOf(find(objects, kind, name)), 1)
  return [
    [
      'a service without pods',
      /selects no pod/,
      objects => {
        find(objects, 'Service', /identity$/).spec.selector!['rollcall/role'] = 'sever'
      },
    ],
    [
      'a service that also leads to tasks',
      /selects Deployment.* and Job/,
      objects => {
        delete find(objects, 'Service', /identity$/).spec.selector!['rollcall/role']
      },
    ],
    [
      'a port that is not there',
      /leads to port grcp/,
      objects => {
        find(objects, 'Service', /audience$/).spec.ports![0]!.targetPort = 'grcp'
      },
    ],
    [
      'a probe of no port',
      /is probed at port 1/,
      objects => {
        containerOf(objects, /import/).livenessProbe!.httpGet!.port = '1'
      },
    ],
    [
      'an autoscaler of nothing',
      /scales what is not there/,
      objects => {
        find(objects, 'HorizontalPodAutoscaler', /gateway/).spec.scaleTargetRef!.name = 'gone'
      },
    ],
    [
      'a key that its Secret does not have',
      /rollcall-keys has no TOKEN_KYE/,
      objects => {
        containerOf(objects, /gateway/).env!.find(({ name }) => name === 'TOKEN_KEY')!.valueFrom!.secretKeyRef.key =
          'TOKEN_KYE'
      },
    ],
    [
      'authorities that are nowhere',
      /rollcall-authorities has no ca\.pem/,
      objects => {
        const { volumes } = find(objects, 'Deployment', /audience/).spec.template!.spec
        volumes!.find(({ name }) => name === 'mtls')!.projected!.sources[1]!.secret.items[0]!.key = 'ca.pem'
      },
    ],
    ['a route to nowhere', /leads to .*:http, which is not there/, objects => remove(objects, 'Service', /gateway$/)],
    ['a callee that lets nobody in', /may not enter/, objects => remove(objects, 'NetworkPolicy', /identity$/)],
    [
      'a caller that may not go out',
      /may not leave for/,
      objects => {
        find(objects, 'NetworkPolicy', /gateway$/).spec.egress!.splice(1)
      },
    ],
    [
      'a store behind another port',
      /may not reach MONGODB_URL at port 27017/,
      objects => {
        for (const rule of find(objects, 'NetworkPolicy', /audience$/).spec.egress!)
          for (const port of rule.ports!) if (port.port === 27017) port.port = 27018
      },
    ],
    [
      'a task whose policy is no hook',
      /Job\/crm-rollcall-audience-migration may not reach MONGODB_URL/,
      objects => {
        delete find(objects, 'NetworkPolicy', /audience-tasks$/).metadata.annotations
      },
    ],
    [
      'a task whose policy is made after it',
      /Job\/crm-rollcall-import-topics may not reach KAFKA_BROKERS/,
      objects => {
        find(objects, 'NetworkPolicy', /import-tasks$/).metadata.annotations!['helm.sh/hook-weight'] = '1'
      },
    ],
    [
      'brokers at different ports',
      /audience may not reach KAFKA_BROKERS at port 9094/,
      objects => {
        const { env } = containerOf(objects, /audience/)
        env!.find(({ name }) => name === 'KAFKA_BROKERS')!.value = 'kafka-0:9093,kafka-1:9094'
      },
    ],
    [
      'tenants whose servers are out of reach',
      /gateway may not reach TENANT_SERVERS at port 50052/,
      objects => {
        containerOf(objects, /gateway/).env!.push({
          name: 'TENANT_SERVERS',
          value: '{"a": "one.example.com:4318", "b": "[2001:db8::1]:50052"}',
        })
      },
    ],
    [
      'a pod outside the default deny',
      /not under the default deny/,
      objects => remove(objects, 'NetworkPolicy', /deny$/),
    ],
    [
      'a grace period that is too short',
      /is killed before it has stopped/,
      objects => {
        find(objects, 'Deployment', /audience/).spec.template!.spec.terminationGracePeriodSeconds = 60
      },
    ],
    [
      'a heap that is too large',
      /Job\/crm-rollcall-import-migration has a heap of 384 in 512Mi/,
      objects => {
        const { env } = find(objects, 'Job', /import-migration/).spec.template!.spec.containers[0]!
        env!.find(({ name }) => name === 'NODE_OPTIONS')!.value = '--max-old-space-size=384'
      },
    ],
    [
      'a container that may write',
      /lacks a read-only root/,
      objects => {
        containerOf(objects, /messaging/).securityContext!.readOnlyRootFilesystem = false
      },
    ],
    [
      'certificates that are not mounted',
      /nothing mounted at/,
      objects => {
        containerOf(objects, /identity/).volumeMounts!.pop()
      },
    ],
    [
      'a service that no alert misses',
      /nobody misses audience/,
      objects => {
        for (const rule of find(objects, 'PrometheusRule', /rollcall/).spec.groups![0]!.rules)
          rule.expr = rule.expr.replaceAll('service="audience"', 'service="reports"')
      },
    ],
    [
      'an alert about nobody in particular',
      /not filled in: up\{\$scope\}/,
      objects => {
        find(objects, 'PrometheusRule', /rollcall/).spec.groups![0]!.rules[0]!.expr = 'up{$scope}'
      },
    ],
    [
      'a hook that counts on an account',
      /made after it/,
      objects => {
        find(objects, 'Job', /identity/).spec.template!.spec.serviceAccountName = 'crm-rollcall-identity'
      },
    ],
  ]
}
