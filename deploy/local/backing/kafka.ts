import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Cache, cached, install, versionOf, which } from '../install.ts'
import { connectTo, freePorts, LOCALHOST } from '../ports.ts'
import { Problem } from '../problem.ts'
import { type Program, supervise, untilReady } from '../supervise.ts'
import type { Backing, Place } from './backing.ts'

const FORMATTED = 'formatted'
const ARCHIVE = 'classes.jsa'
const WAY_OUT = 'or set KAFKA_BROKERS to running brokers'
const POM = join(import.meta.dirname, '..', 'kafka', 'pom.xml')
const VERSION = /<kafka\.version>(.+)</.exec(readFileSync(POM, 'utf8'))?.[1] ?? ''
const CLUSTER_ID = 'cm9sbGNhbGwtbG9jYWwtMQ'

/** The event broker: real Kafka, one node that is its own controller. */
export const kafka: Backing = {
  name: 'kafka',
  variables: ['KAFKA_BROKERS'],

  async obtain(cache) {
    const java = await findJava()
    const libs = (await libsOnPath()) ?? (await libsFromMaven(cache))
    const warm = await warmFolder(cache, java, libs)
    return {
      label: `Kafka ${kafkaVersion(libs)}`,
      portCount: 2,
      async prepare(place) {
        const dataDir = join(place.dataDir, 'data')
        if (!existsSync(dataDir)) await copyWhole(join(warm, FORMATTED), dataDir)
        const archive = `-XX:SharedArchiveFile=${join(warm, ARCHIVE)}`
        return broker(java, libs, [archive], { ...place, dataDir }, join(place.dataDir, 'server.properties'))
      },
      initialize: expectBroker,
      addresses: port => [`${LOCALHOST}:${port}`],
    }
  },

  async check(address) {
    const [host = '', port = ''] = (address.split(',')[0] ?? '').trim().split(/:(?=\d+$)/)
    const socket = await connectTo(host, Number(port) || 9092, 5000)
    socket.destroy()
    return 'Kafka'
  },
}

/**
 * Rejects unless the broker at this port has joined its cluster; it listens earlier. Requests the metadata of no topic
 * (Kafka protocol, Metadata version 1). The response starts with its size, the correlation id and the number of
 * brokers.
 */
async function expectBroker(port: number): Promise<void> {
  const request = Buffer.from('00000010 0003 0001 00000000 0002 7570 00000000'.replaceAll(' ', ''), 'hex')
  const socket = await connectTo(LOCALHOST, port, 2000)
  try {
    socket.write(request)
    const [response]: Buffer[] = await once(socket, 'data')
    if (!response?.readInt32BE(8)) throw new Error('the broker has not joined its cluster')
  } finally {
    socket.destroy()
  }
}

type Java = { command: string; version: string }

async function findJava(): Promise<Java> {
  const home = process.env.JAVA_HOME
  const command = (home && (await which('java', join(home, 'bin')))) || (await which('java'))
  if (!command)
    throw new Problem(`java is missing (Kafka needs 17 or newer): apt-get install openjdk-17-jre-headless, ${WAY_OUT}`)
  const version = /version "([^"]+)"/.exec(await versionOf(command, '-version'))?.[1] ?? ''
  if (!(Number.parseInt(version, 10) >= 17)) {
    throw new Problem(`${command} is Java ${version}, Kafka needs 17 or newer: set JAVA_HOME to one, ${WAY_OUT}`)
  }
  return { command, version }
}

/** Returns the jars of a Kafka whose start script is on PATH, if it is version 4 or newer (no ZooKeeper). */
async function libsOnPath(): Promise<string | undefined> {
  const script = (await which('kafka-server-start.sh')) ?? (await which('kafka-server-start'))
  const libs = script && join(dirname(await realpath(script)), '..', 'libs')
  return libs && existsSync(libs) && Number.parseInt(kafkaVersion(libs), 10) >= 4 ? libs : undefined
}

function libsFromMaven(cache: Cache): Promise<string> {
  return cached(cache, `kafka-${VERSION}`, async dir => {
    const mvn = await which('mvn')
    if (!mvn) throw new Problem(`mvn is missing (it installs Kafka): apt-get install maven, ${WAY_OUT}`)
    cache.log(`installing Kafka ${VERSION} from Maven Central`)
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${dir}`]
    const args = ['-B', '-q', '-f', POM, ...goal]
    await install(cache, 'mvn dependency:copy-dependencies', { command: mvn, args })
  })
}

function kafkaVersion(libs: string): string {
  const jar = readdirSync(libs).find(name => name.startsWith('kafka-clients-'))
  return /^kafka-clients-(.+)\.jar$/.exec(jar ?? '')?.[1] ?? '0'
}

/**
 * Returns a cached folder that speeds up later starts. It contains a formatted data folder to copy, which saves a JVM
 * start, and a class archive, which halves the start. A first broker runs briefly to write the archive.
 */
function warmFolder(cache: Cache, java: Java, libs: string): Promise<string> {
  const version = kafkaVersion(libs)
  return cached(cache, `kafka-${version}-java-${java.version}`, async dir => {
    cache.log(`preparing Kafka ${version} for quick starts`)
    const [port = 0, controllerPort = 0] = await freePorts(2)
    const ports = [port, controllerPort]
    const place = { ports, advertisedPort: port, dataDir: join(dir, FORMATTED), durable: false }
    const properties = join(dir, 'server.properties')
    await writeFile(properties, serverProperties(place))
    const format = javaProgram(
      java,
      libs,
      [],
      'kafka.tools.StorageTool',
      'format',
      '--cluster-id',
      CLUSTER_ID,
      '-c',
      properties,
    )
    await install(cache, 'kafka-storage format', format)

    const practice = { ...place, dataDir: join(dir, 'practice') }
    await copyWhole(place.dataDir, practice.dataDir)
    const archive = `-XX:ArchiveClassesAtExit=${join(dir, ARCHIVE)}`
    const first = await broker(java, libs, [archive], practice, properties)
    await startAndStop(cache, first, port)
    await rm(practice.dataDir, { recursive: true })
  })
}

async function copyWhole(from: string, to: string): Promise<void> {
  await rm(`${to}.part`, { recursive: true, force: true })
  await cp(from, `${to}.part`, { recursive: true })
  await rename(`${to}.part`, to)
}

async function startAndStop(cache: Cache, program: Program, port: number): Promise<void> {
  const logFile = join(cache.dir, 'logs', 'kafka-first-start.log')
  const running = await supervise(program, { name: 'kafka', logFile, graceSeconds: 30, signal: cache.signal })
  await untilReady(running, 60, () => expectBroker(port))
  await running.stop()
}

async function broker(java: Java, libs: string, options: string[], place: Place, properties: string): Promise<Program> {
  await writeFile(properties, serverProperties(place))
  return javaProgram(java, libs, options, 'kafka.Kafka', properties)
}

function javaProgram(java: Java, libs: string, options: string[], mainClass: string, ...args: string[]): Program {
  const memory = ['-Xms128m', '-Xmx128m', '-Xss512k', '-XX:ReservedCodeCacheSize=48m', '-XX:MaxDirectMemorySize=64m']
  const speed = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const log = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
  return {
    command: java.command,
    args: [...memory, ...speed, ...options, log, '-cp', join(libs, '*'), mainClass, ...args],
  }
}

// A static quorum, not `--standalone`: the controller's port stays out of the data folder and may differ at each start.
const serverProperties = ({ ports: [broker, controller], advertisedPort, dataDir }: Place) => `\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@${LOCALHOST}:${controller}
listeners=BROKER://${LOCALHOST}:${broker},CONTROLLER://${LOCALHOST}:${controller}
advertised.listeners=BROKER://${LOCALHOST}:${advertisedPort}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
log.dirs=${dataDir}
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=2
num.recovery.threads.per.data.dir=1
log.cleaner.dedupe.buffer.size=4194304
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
`
