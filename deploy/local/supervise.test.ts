import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, supervise, untilReady } from './supervise.ts'

const dir = mkdtempSync(join(tmpdir(), 'supervise-'))
after(() => rmSync(dir, { recursive: true }))

const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script] })
/** Returns the id of a process that writes it to a file. The shell creates the file before it writes to it. */
const started = (file: string) => async () => {
  const pid = existsSync(file) && Number(readFileSync(file, 'utf8'))
  if (!pid) throw new Error('not yet')
  return pid
}

test('a program that ends reports its exit code and its last lines', async () => {
  const logFile = join(dir, 'ends.log')
  const running = await supervise(shell('echo one; echo two >&2; exit 7'), { name: 'ends', logFile, graceSeconds: 1 })
  assert.deepEqual(await running.exited, { code: 7 })
  assert.equal(running.lastLines(1), 'two')
  await assert.rejects(
    untilReady(running, 1, () => Promise.reject(new Error('no'))),
    { name: 'Problem', message: `ends ended by itself (exit 7): two; see ${logFile}` },
  )
})

test('a service that ends by itself is reported with its last error, not with how it stopped', async () => {
  const [error, stopped] = ['{"level":"error","msg":"no port"}', '{"level":"info","msg":"all stopped"}']
  const script = shell(`echo '${error}'; echo '${stopped}'; exit 1`)
  const running = await supervise(script, { name: 'service', logFile: join(dir, 'service.log'), graceSeconds: 1 })
  await running.exited
  assert.match(ended(running).message, /exit 1\): \{"level":"error","msg":"no port"\};/)
})

test('a program that cannot be run ends with 127, as in a shell', async () => {
  const running = await supervise(
    { command: join(dir, 'missing'), args: [] },
    { name: 'missing', logFile: join(dir, 'missing.log'), graceSeconds: 1 },
  )
  assert.equal((await running.exited).code, 127)
})

test('stop sends SIGTERM, then kills a program that ignores it', async () => {
  const polite = join(dir, 'polite')
  const listens = await supervise(shell(`trap 'exit 3' TERM; echo $$ > ${polite}; while :; do sleep 0.05; done`), {
    name: 'polite',
    logFile: join(dir, 'polite.log'),
    graceSeconds: 5,
  })
  await untilReady(listens, 5, started(polite))
  await listens.stop()
  assert.equal(listens.exit?.code, 3)

  const deaf = join(dir, 'deaf')
  const ignores = await supervise(shell(`trap '' TERM; echo $$ > ${deaf}; while :; do sleep 0.05; done`), {
    name: 'deaf',
    logFile: join(dir, 'deaf.log'),
    graceSeconds: 1,
  })
  const pid = await untilReady(ignores, 5, started(deaf))
  await ignores.stop()
  assert.ok(!isAlive(pid))
})

test('the program and its children end when the parent is killed with -9', async () => {
  const file = join(dir, 'orphan')
  const program = shell(`sleep 300 & echo $! > ${file}; wait`)
  const supervision = { name: 'orphan', logFile: join(dir, 'orphan.log'), graceSeconds: 2 }
  const parent = run(`
    const { supervise } = await import(${JSON.stringify(join(import.meta.dirname, 'supervise.ts'))})
    await supervise(${JSON.stringify(program)}, ${JSON.stringify(supervision)})`)
  const grandchild = await until(async () => started(file)().catch(() => 0))
  assert.ok(isAlive(grandchild))
  parent.kill('SIGKILL')
  await until(async () => !isAlive(grandchild))
})

test('the next start waits for a program that is still stopping', async () => {
  const file = join(dir, 'slow')
  const program = shell(`trap 'sleep 0.5; exit' TERM; echo $$ > ${file}; while :; do sleep 0.05; done`)
  const supervision = { name: 'slow', logFile: join(dir, 'slow.log'), graceSeconds: 3 }
  const first = await supervise(program, supervision)
  const pid = await untilReady(first, 5, started(file))
  const stopping = first.stop()
  const second = await supervise(program, supervision)
  assert.ok(!isAlive(pid))
  await Promise.all([stopping, second.stop()])
})

function run(code: string): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '')
  } catch {
    return false
  }
}

async function until<Result>(ask: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const result = await ask()
    if (result) return result
    assert.ok(Date.now() < deadline, 'it did not happen within 10 s')
    await sleep(20)
  }
}
