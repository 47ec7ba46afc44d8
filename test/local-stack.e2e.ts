import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { bodyOf, createApi, signIn } from './api.ts'

const UP = join(import.meta.dirname, '..', 'deploy', 'local', 'up.ts')
const dataDir = mkdtempSync(join(tmpdir(), 'rollcall-up-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

type Up = { url: string; email: string; password: string; stop(signal: NodeJS.Signals): Promise<number | null> }

/** Starts the local stack without settings, and uses it by what it prints. */
async function up(): Promise<Up> {
  const none = { MONGODB_URL: '', KAFKA_BROKERS: '', REDIS_CACHE_URL: '', REDIS_QUEUE_URL: '' }
  const env = { ...process.env, ...none, PORT: '0', DATA_DIR: dataDir, npm_lifecycle_event: '' }
  const child = spawn(process.execPath, [UP], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface(child.stderr).on('line', line => lines.push(line))
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (line === 'Ctrl-C stops it') break
  }
  child.stdout.resume()
  const text = lines.join('\n')
  const read = (pattern: RegExp) => pattern.exec(text)?.[1] ?? assert.fail(`${pattern} is not in\n${text}`)
  return {
    url: read(/^ready\ngateway +(http:\S+)\/api$/m),
    email: read(/^sign in +(\S+) with \S+$/m),
    password: read(/^sign in +\S+ with (\S+)$/m),
    async stop(signal) {
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}

/** Returns the programs of the stack in this folder that are still running. */
function left(): string[] {
  return readdirSync(join(dataDir, 'logs')).filter(name => name.endsWith('.pid'))
}

test('the local stack starts, stops whole, and knows its data at the next start', async () => {
  const first = await up()
  const owner = await signIn(createApi(first.url), first.email, first.password)
  await bodyOf(owner.post('/api/audience', { email: 'kept@example.com', name: 'Kept' }), 201)
  assert.equal((await fetch(`${first.url}/docs`)).status, 200)
  assert.match(await (await fetch(first.url)).text(), /<div id="root">/)
  assert.equal(await first.stop('SIGINT'), 0)
  assert.deepEqual(left(), [])

  const second = await up()
  assert.deepEqual([second.email, second.password], [first.email, first.password])
  const again = await signIn(createApi(second.url), second.email, second.password)
  assert.equal((await bodyOf(again.get<{ totalDocs: number }>('/api/audience'))).totalDocs, 1)
  assert.equal(await second.stop('SIGTERM'), 0)
  assert.deepEqual(left(), [])
})
