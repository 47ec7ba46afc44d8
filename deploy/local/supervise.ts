import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from './problem.ts'

/** A program to run: an absolute path, its arguments and what its environment has beyond ours. */
export type Program = { command: string; args: readonly string[]; env?: NodeJS.ProcessEnv; cwd?: string }

/** How a program ended: an exit code (128 + signal number for a signal, as shells count). */
export type Exit = { code: number }

/** A program that runs until it is stopped, ends by itself, or its parent (this process) is gone. */
export type Running = {
  name: string
  pid: number
  logFile: string | undefined
  /** Resolves when the program has ended, whatever the reason. */
  exited: Promise<Exit>
  /** The exit, once there is one. */
  exit: Exit | undefined
  /** SIGTERM, then SIGKILL after the grace time; resolves when the program is gone. */
  stop(): Promise<void>
  /** SIGKILL at once. */
  kill(): void
  /** The last lines the program wrote. */
  lastLines(count: number): string
}

// Runs in /bin/sh, the one program every Unix has. Its standard input is a pipe whose other end this process alone
// holds: the kernel closes that end when this process stops, crashes or is killed with -9, so the program is asked to
// stop in each of these cases. The shell leads its own process group: Ctrl-C at the terminal does not reach it (the
// parent decides the order of stopping), and one signal to the group clears whatever the program left behind.
const SUPERVISOR = `
grace=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
{
  while read -r _; do :; done <&3
  kill -TERM "$program" 2>/dev/null
  sleep "$grace"
  kill -KILL "$program" 2>/dev/null
} &
exec 3<&-
wait "$program"; code=$?
trap '' TERM
kill -TERM -$$ 2>/dev/null
exit $code`

/** How a program is to be supervised. */
export type Supervision = {
  name: string
  /** Takes what the program writes, and the previous one is kept as `<logFile>.1`; without one it goes where ours goes. */
  logFile?: string
  /** Between SIGTERM and SIGKILL. */
  graceSeconds: number
  /** Stops the program when aborted. */
  signal?: AbortSignal
}

/** Starts a program that ends when this process does, even if this process is killed with -9. */
export async function supervise(program: Program, supervision: Supervision): Promise<Running> {
  const { name, logFile, graceSeconds, signal } = supervision
  const pidFile = logFile?.replace(/(\.log)?$/, '.pid')
  if (pidFile) await previousGone(pidFile, graceSeconds)
  signal?.throwIfAborted()
  const output = logFile ? openLog(logFile) : 'inherit'
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, name, String(graceSeconds), program.command, ...program.args], {
    stdio: ['pipe', output, output],
    detached: true,
    cwd: program.cwd,
    env: { ...process.env, ...program.env },
  })
  if (typeof output === 'number') closeSync(output)
  const { pid, stdin } = child
  if (pid === undefined || stdin === null) throw new Problem(`${name}: /bin/sh could not be started`)
  alive.add(pid)
  if (pidFile) writeFileSync(pidFile, String(pid))
  stdin.on('error', () => {}) // the program ended first: `exited` tells
  const running: Running = {
    name,
    pid,
    logFile,
    exit: undefined,
    exited: exitOf(child).then(exit => {
      killGroup(pid)
      alive.delete(pid)
      if (pidFile) rmSync(pidFile, { force: true })
      running.exit = exit
      return exit
    }),
    async stop() {
      stdin.end()
      await running.exited
    },
    kill: () => killGroup(pid),
    lastLines: count => (logFile ? readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n') : ''),
  }
  signal?.addEventListener('abort', running.stop, { once: true })
  return running
}

const alive = new Set<number>()

/** Kills every program this process supervises, at once. */
export function killAll(): void {
  for (const pid of alive) killGroup(pid)
}

/**
 * Calls `check` until it resolves, and answers what it did. Throws a Problem when the program ends first, or when it
 * is not ready in time.
 */
export async function untilReady<Result>(
  running: Running,
  seconds: number,
  check: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    try {
      const result = await check()
      if (running.exit) throw ended(running) // somebody else answered in its place
      return result
    } catch (error) {
      if (running.exit) throw ended(running)
      if (error instanceof Problem) throw error
      const reason = error instanceof Error ? error.message : error
      if (Date.now() > deadline) {
        throw new Problem(
          `${running.name} is not ready after ${seconds} s: ${reason}; see ${running.logFile ?? 'above'}`,
        )
      }
    }
    await sleep(25)
  }
}

/** The first of the programs to end, whenever that is. */
export function firstToEnd(programs: readonly Running[]): Promise<Running> {
  return Promise.race(programs.map(program => program.exited.then(() => program)))
}

/** The Problem of a program that should still run. */
export function ended({ name, exit, lastLines, logFile }: Running): Problem {
  return new Problem(`${name} ended by itself (exit ${exit?.code}): ${lastLines(1)}; see ${logFile ?? 'above'}`)
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise(resolve => {
    child.once('error', () => resolve({ code: 127 }))
    child.once('exit', (code, signal) => resolve({ code: code ?? (signal === 'SIGKILL' ? 137 : 143) }))
  })
}

function openLog(logFile: string): number {
  mkdirSync(dirname(logFile), { recursive: true })
  try {
    renameSync(logFile, `${logFile}.1`)
  } catch {} // the first start has none
  return openSync(logFile, 'w')
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // all of it is gone
}

/** After a kill -9 the programs of the previous run may still be stopping, with the data folder locked. */
async function previousGone(pidFile: string, graceSeconds: number): Promise<void> {
  const pid = pidIn(pidFile)
  if (pid === undefined) return
  const end = Date.now() + graceSeconds * 1000
  while (isAlive(pid) && Date.now() < end) await sleep(50)
}

function pidIn(pidFile: string): number | undefined {
  try {
    return Number(readFileSync(pidFile, 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
