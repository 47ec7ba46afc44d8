import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { explain, interruption, Problem, type RunningBacking, startBacking, supervise } from '@rollcall/local'
import { startMongodProcess } from '@rollcall/testing/mongod/process'
import { MongoClient } from 'mongodb'
import { bundleServices } from './bundle.ts'
import { obtainTools, toolsCache } from './chart/tools.ts'
import type { Group, Lane } from './lane.ts'

/**
 * `npm test`: starts backing services on free ports, runs the tests, and removes everything. With --harnesses, runs those
 * of `HARNESSES` and `DEPLOYMENT` instead; with --soak, the harnesses one after the other with their full counts.
 *
 * With --mongod, the tests reach MongoDB through a proxy with the semantics of mongod, and the run fails if a command of
 * a service breaks a rule of `libs/testing/mongod/rules.ts`. With --mongod=conflicts, every third write of transactions of
 * services conflicts.
 */

const ROOT = join(import.meta.dirname, '..')
const CACHE = process.env.CACHE_DIR ?? join(ROOT, '.cache')
const GRACE_SECONDS = 15
const TESTS = ['{cli,deploy,libs,protos,services,test}/**/*.test.ts', 'test/**/*.e2e.ts']
/** Tests that kill, flood and measure, with processes of their own. */
const HARNESSES = ['test/faults/*.e2e.ts', 'test/abuse/*.e2e.ts', 'test/security/*-flood.e2e.ts']
/** Tests of what deploys and starts the product, with the tools of the chart. */
const DEPLOYMENT = ['test/chart/*', 'test/local-stack.e2e.ts']
const SOAKS = [...HARNESSES, 'test/faults/*.soak.ts', 'test/privacy/*.e2e.ts']
/** Files that use a browser, which takes a core, in the order of their start: those that take longest come first. */
const BROWSING = ['test/console/console.e2e.ts', 'test/console/administration.e2e.ts', 'test/console/*']
/** Files that mostly wait, in the order of their start: those that wait longest come first. */
const WAITING = [
  'test/faults/import-kills*',
  'test/faults/dependencies*',
  'test/chart/chart*',
  'test/faults/*',
  ...DEPLOYMENT,
  'test/messaging/mail.e2e.ts',
  'test/content/*',
  'services/gateway/src/{app,bounds}.test.ts',
  'test/events.test.ts',
  'test/security/token-keys*',
  'libs/{bus,jobs,sdk}/**',
  'deploy/local/**',
]
/** Files with a process of their own, because they set up grpc-js or tracing, which a process has once. */
const ALONE = ['test/faults/balancing*', '**/tracing*']
const isSoak = process.argv.includes('--soak')
const isHarnesses = process.argv.includes('--harnesses')
/** Number of lanes that begin with files that compute, one per core. */
const computing = Math.min(availableParallelism(), 4)
/** Maximum number of lanes beside them. */
const beside = 2
/** Maximum concurrent files with a process of their own. */
const alone = 1
/**
 * Ports of all lanes, in equal parts, so that no lane takes the port of a server that restarts in another. They begin
 * above 10080, the last one that `fetch` refuses as a bad port (https://fetch.spec.whatwg.org/#port-blocking).
 */
const PORTS = { from: 10_100, to: 30_000 }
/** Options of every lane, as of the services: many short-lived objects, which a larger young generation collects cheaper. */
const HEAP = ['--max-semi-space-size=32']
const MINUTE = 60_000

const mongodFlag = process.argv.find(argument => argument.startsWith('--mongod'))
const CONFLICT_EVERY = 3

const flags = process.argv
  .slice(2)
  .filter(argument => argument.startsWith('-') && !['--soak', '--harnesses', mongodFlag].includes(argument))
/** Reporters of the flags, or results and the slowest files. */
const reporters = flags.some(flag => flag.startsWith('--test-reporter'))
  ? []
  : ['spec', join(import.meta.dirname, 'slowest.ts')].flatMap(reporter => [
      `--test-reporter=${reporter}`,
      '--test-reporter-destination=stdout',
    ])
const filters = process.argv.slice(2).filter(argument => !argument.startsWith('-'))

/** Returns the test files below the given paths or with them in their path; without a path, those of the command. */
function testFiles(): string[] {
  const patterns = isSoak ? SOAKS : TESTS
  const all = patterns.flatMap(pattern => globSync(pattern, { cwd: ROOT, exclude: name => name === 'node_modules' }))
  const wanted = filters.map(filter => relative(ROOT, filter) || '.').map(filter => (filter === '.' ? '' : filter))
  const isHarness = (file: string) => placeIn([...HARNESSES, ...DEPLOYMENT], file) >= 0
  const files = all.filter(file =>
    wanted.length > 0 ? wanted.some(part => file.includes(part)) : isSoak || isHarness(file) === isHarnesses,
  )
  if (files.length === 0) throw new Problem(`no test file matches ${filters.join(', ')}`)
  return files
}

/**
 * Returns the lanes of a run. One begins with files that use a browser and one with files that wait, or both with files
 * that wait; the others begin with files that compute. Each takes files of the other kinds when its own are done. More
 * lanes at once would take longer: processes that share a core need more of it.
 */
function lanesOf(files: string[]): Group[][] {
  const isAlone = (file: string) => isSoak || placeIn(ALONE, file) >= 0
  const shared = files.filter(file => !isAlone(file))
  const browses = groupsInOrder(BROWSING, shared)
  const waits = groupsInOrder(WAITING, shared)
  const computes = groupsOf(shared.filter(file => placeIn([...BROWSING, ...WAITING], file) < 0))
  const lanesBeside = [
    [...browses, ...waits, ...computes],
    [...waits, ...computes, ...browses],
  ]
  return [
    ...Array<Group[]>(Math.min(computing, computes.length)).fill([...computes, ...waits, ...browses]),
    ...lanesBeside.slice(0, Math.min(beside, browses.length + waits.length)),
    ...files.filter(isAlone).map(file => [{ boots: file, files: [file] }]),
  ]
}

/** Returns the files of some patterns in their order, one per group. */
function groupsInOrder(patterns: readonly string[], files: readonly string[]): Group[] {
  return files
    .filter(file => placeIn(patterns, file) >= 0)
    .sort((one, other) => placeIn(patterns, one) - placeIn(patterns, other))
    .map(file => ({ boots: file, files: [file] }))
}

function placeIn(patterns: readonly string[], file: string): number {
  return patterns.findIndex(pattern => matchesGlob(file, pattern))
}

/**
 * Groups files: one group per service, one per other file. Those across services take longest and come first,
 * then the largest. Files of a folder share boots, which end with the folder, because a stack costs CPU while it is idle.
 */
function groupsOf(files: string[]): Group[] {
  const folders = ['test', 'services']
  const folderOf = (file: string) => file.split('/')[0]!
  const groups = Object.groupBy(files, file =>
    folderOf(file) === 'services' ? file.split('/').slice(0, 2).join('/') : file,
  )
  const ranked = (file: string) => (folders.includes(folderOf(file)) ? folders.indexOf(folderOf(file)) : folders.length)
  return Object.entries(groups)
    .sort(([one, ones], [other, others]) => ranked(one) - ranked(other) || others!.length - ones!.length)
    .map(([name, files = []]) => ({ boots: folderOf(name) === 'services' ? name : dirname(name), files }))
}

/** Writes a program for each lane. Their names sort in the order of the lanes, because Node starts them by name. */
function writePrograms(lanes: Group[][], folder: string): string[] {
  const claims = join(folder, 'claims')
  mkdirSync(claims)
  const portCount = Math.floor((PORTS.to - PORTS.from) / lanes.length)
  return lanes.map((groups, index) => {
    const port = PORTS.from + index * portCount
    const freePorts = `${port}-${port + portCount - 1}`
    const lane: Lane = { root: ROOT, groups, claims, freePorts, timeoutMs: isSoak ? 24 * 60 * MINUTE : 5 * MINUTE }
    const program = join(folder, `${String(index).padStart(3, '0')}.mjs`)
    const module = pathToFileURL(join(import.meta.dirname, 'lane.ts')).href
    writeFileSync(program, `import { runLane } from '${module}'\nawait runLane(${JSON.stringify(lane)})\n`)
    return program
  })
}

async function runTests(
  programs: string[],
  backing: RunningBacking,
  { mongodbUrl, bundles }: { mongodbUrl: string; bundles: string },
  signal: AbortSignal,
): Promise<number> {
  const concurrency = isSoak ? 1 : computing + beside + alone
  const options = [...HEAP, `--test-concurrency=${concurrency}`, ...flags, ...reporters]
  const program = {
    command: process.execPath,
    args: ['--test', ...options, ...programs],
    cwd: ROOT,
    env: {
      ...backing.env,
      MONGODB_URL: mongodbUrl,
      ...(!process.env.MONGODB_URL && { DISPOSABLE_MONGODB: 'true' }),
      NODE_COMPILE_CACHE: join(CACHE, 'compile'),
      NODE_NO_WARNINGS: '1',
      SERVICE_BUNDLES: bundles,
      ...(isSoak && { SOAK: 'full' }),
    },
  }
  const tests = await supervise(program, { name: 'tests', graceSeconds: GRACE_SECONDS, signal })
  const { code } = await Promise.race([tests.exited, backing.failed]).finally(() => tests.stop())
  return code
}

/** Runs with a proxy's URL. Returns an exit code, 1 if a command breaks a rule. */
async function throughMongod(mongodbUrl: string, run: (mongodbUrl: string) => Promise<number>): Promise<number> {
  const conflictEvery = mongodFlag?.endsWith('=conflicts') ? CONFLICT_EVERY : 0
  const mongod = await startMongodProcess(mongodbUrl, { conflictEvery })
  print(`mongodb   behind a proxy with the semantics of mongod on ${new URL(mongod.url).host}`)
  const code = await run(mongod.url)
  const findings = await mongod.stop()
  for (const finding of findings) console.error(finding)
  return findings.length > 0 ? 1 : code
}

/** Returns the URL of the set's primary alone, which links and proxies of tests can stand in front of. */
async function primaryOf(url: string): Promise<string> {
  if (/^mongodb\+srv:|directConnection=true/.test(url)) return url
  await using client = await new MongoClient(url).connect()
  const { primary } = await client.db('admin').command({ hello: 1 })
  const direct = new URL(url.replace(/(?<=^mongodb:\/\/([^/@]*@)?)[^/?@]+(?=[/?]|$)/, primary))
  direct.searchParams.delete('replicaSet')
  direct.searchParams.set('directConnection', 'true')
  return direct.href
}

async function main(signal: AbortSignal): Promise<number> {
  const files = testFiles()
  const dataDir = mkdtempSync(join(tmpdir(), 'rollcall-test-'))
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  if (files.some(file => file.startsWith(join('test', 'chart')))) await obtainTools(toolsCache(print, signal)) // may take minutes
  const backing = await startBacking({ cacheDir: CACHE, dataDir, log: print, signal })
  print(['tests run against:', ...backing.describe].join('\n  '))
  const programs = writePrograms(lanesOf(files), dataDir)
  const bundles = files.some(file => file.startsWith('test')) ? join(dataDir, 'services') : ''
  if (bundles) await bundleServices(bundles)
  const run = (mongodbUrl: string) => runTests(programs, backing, { mongodbUrl, bundles }, signal)
  const primary = await primaryOf(backing.env.MONGODB_URL)
  return (mongodFlag ? throughMongod(primary, run) : run(primary)).finally(() => backing.stop())
}

const print = (line: string) => console.log(line)
const signal = interruption()
try {
  const code = await main(signal)
  process.exit(signal.aborted ? 130 : code)
} catch (error) {
  if (!signal.aborted) console.error(explain(error))
  process.exit(signal.aborted ? 130 : 1)
}
