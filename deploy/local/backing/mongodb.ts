import { mkdir } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { type Document, MongoClient, MongoServerError } from 'mongodb'
import { type Cache, cached, install, versionOf, which } from '../install.ts'
import { LOCALHOST } from '../ports.ts'
import { Problem } from '../problem.ts'
import type { Backing, Server } from './backing.ts'
import { pinnedWheel, pipInstall } from './pip.ts'

const WHEEL = pinnedWheel('secantusdb.txt')
const CRATE = { name: 'secantus-mdb', version: '0.5.3-beta.196' }
const REPLICA_SET = 'rollcall'
/** A sixth of the memory: imports slow down once the indexes outgrow the cache. */
const CACHE_GIB = Math.max(1, Math.floor(totalmem() / 6 / 2 ** 30))

/** The databases of all services. Without a mongod on PATH, SecantusDB stands in: it implements the wire protocol. */
export const mongodb: Backing = {
  name: 'mongodb',
  variables: ['MONGODB_URL'],

  async obtain(cache) {
    const mongod = await which('mongod')
    return mongod ? realServer(mongod) : standIn(cache)
  },

  check(address) {
    return withAdmin(address, async command => {
      const { setName, msg, isWritablePrimary } = await command({ hello: 1 })
      if (!setName && msg !== 'isdbgrid') {
        throw new Problem(
          'MongoDB runs without a replica set, and transactions need one: start it with --replSet, then rs.initiate()',
        )
      }
      if (!isWritablePrimary) throw new Error('the replica set has no primary')
      const { version, secantusVersion } = await command({ buildInfo: 1 })
      return secantusVersion ? `SecantusDB ${secantusVersion}` : `MongoDB ${version}`
    })
  },
}

async function standIn(cache: Cache): Promise<Server> {
  const { label, program } = await standInProgram(cache)
  return {
    label,
    portCount: 1,
    async prepare({ ports: [port], dataDir, durable }) {
      const args = ['--host', LOCALHOST, '--port', String(port), '--storage-path', join(dataDir, 'secantusdb')]
      const storage = [
        '--log-file-max',
        '128MB',
        '--cache-size',
        `${CACHE_GIB}G`,
        ...(durable ? ['--sync-on-commit'] : []),
      ]
      return { command: program, args: [...args, ...storage], cwd: dataDir }
    },
    addresses: port => [address(port)],
  }
}

type Program = { label: string; program: string }

/** Installs the wheel or, if PyPI has none for this machine, compiles the crate once (some minutes). */
async function standInProgram(cache: Cache): Promise<Program> {
  const wayOut = 'install mongod (7 or newer), or set MONGODB_URL to a replica set'
  try {
    const dir = await pipInstall(cache, WHEEL, wayOut)
    return { label: `SecantusDB ${WHEEL.version}`, program: join(dir, 'secantusdb.scripts', 'secantusd-rs') }
  } catch (error) {
    const cargo = error instanceof Problem && /could not find a version/i.test(error.message) && (await which('cargo'))
    if (!cargo) throw error
    return compiledStandIn(cache, cargo)
  }
}

async function compiledStandIn(cache: Cache, cargo: string): Promise<Program> {
  const dir = await cached(cache, `${CRATE.name}-${CRATE.version}`, async dir => {
    cache.log(`compiling ${CRATE.name} ${CRATE.version} with cargo (some minutes, once)`)
    const args = ['install', CRATE.name, '--version', CRATE.version, '--ignore-rust-version', '--root', dir]
    await install(cache, `cargo install ${CRATE.name}`, { command: cargo, args })
  })
  return { label: `SecantusDB ${CRATE.version}`, program: join(dir, 'bin', 'secantusd-rs') }
}

async function realServer(mongod: string): Promise<Server> {
  const version = /v(\d\S*)/.exec(await versionOf(mongod, '--version'))?.[1]
  return {
    label: `MongoDB ${version}`,
    portCount: 1,
    async prepare({ ports: [port], dataDir }) {
      const dbPath = join(dataDir, 'mongod')
      await mkdir(dbPath, { recursive: true })
      const args = ['--bind_ip', LOCALHOST, '--port', String(port), '--dbpath', dbPath, '--replSet', REPLICA_SET]
      return { command: mongod, args: [...args, '--wiredTigerCacheSizeGB', String(CACHE_GIB)] }
    },
    initialize: port => withAdmin(address(port), command => initiateReplicaSet(command, `${LOCALHOST}:${port}`)),
    addresses: port => [address(port)],
  }
}

type Command = (document: Document) => Promise<Document>

/** Makes the server a replica set of one. Reconfigures a set of an earlier start, which has that start's port. */
async function initiateReplicaSet(command: Command, host: string): Promise<void> {
  const { hosts = [] } = await command({ hello: 1 })
  if (hosts.includes(host)) return
  const members = [{ _id: 0, host }]
  try {
    await command({ replSetInitiate: { _id: REPLICA_SET, members } })
  } catch (error) {
    if (!(error instanceof MongoServerError && error.codeName === 'AlreadyInitialized')) throw error
    const { config } = await command({ replSetGetConfig: 1 })
    await command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true })
  }
}

async function withAdmin<Result>(url: string, use: (command: Command) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000 })
  try {
    return await use(document => client.db('admin').command(document))
  } finally {
    await client.close()
  }
}

const address = (port: number) => `mongodb://${LOCALHOST}:${port}/?directConnection=true`
