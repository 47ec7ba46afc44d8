import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from './problem.ts'

/** A program to run: absolute path, arguments, and additions to this process's environment. */
export type Program = { command: string; args: readonly string[]; env?: NodeJS.ProcessEnv; cwd?: string }

/** How a program ended: its exit code, or 128 + signal number as in a shell. */
export type Exit = { code: number }

/** A program that runs until it is stopped, exits, or its parent (this process) ends. */
export type Running = {
  name: string
  pid: number
  logFile: string | undefined
  /** Resolves when the program has ended, for any reason. */
  exited: Promise<Exit>
  /** The exit, once the program has ended. */
  exit: Exit | undefined
  /** Sends SIGTERM, then SIGKILL after the grace period. Resolves when the program has ended. */
  stop(): Promise<void>
  /** Sends SIGKILL at once. */
  kill(): void
  /** Returns the last lines of the program's output. */
  lastLines(count: number): string
}

// Runs in /bin/sh, which every Unix has. Its standard input is a pipe whose other end only this process holds. The
// kernel closes that end when this process stops, crashes or is killed with -9, and the shell then stops the program.
// The shell leads its own process group: Ctrl-C at the terminal does not reach it, because the parent decides the order
// of stopping. One signal to the group kills everything that the program left behind.
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

/** Options of `supervise`. */
export type Supervision = {
  name: string
  /** File for the program's output; the previous one is kept as `<logFile>.1`. Default: this process's output. */
  logFile?: string
  /** Time between SIGTERM and SIGKILL. */
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
  stdin.on('error', () => {}) // the program ended first; see `exited`
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
 * Calls `check` until it resolves, and returns its result. Throws a Problem if the program ends first, or is not ready
 * in time.
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
      if (running.exit) throw ended(running) // another program answered instead
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

/** Resolves with the first program that ends. */
export function firstToEnd(programs: readonly Running[]): Promise<Running> {
  return Promise.race(programs.map(program => program.exited.then(() => program)))
}

/** Returns the Problem for a program that ended unexpectedly. */
export function ended({ name, exit, lastLines, logFile }: Running): Problem {
  const lines = lastLines(LINES_SEARCHED).split('\n')
  const reason = lines.findLast(line => IS_ERROR.test(line)) ?? lines.at(-1)
  return new Problem(`${name} ended by itself (exit ${exit?.code}): ${reason}; see ${logFile ?? 'above'}`)
}

/** A service still logs how it stops after the error that made it. */
const LINES_SEARCHED = 30
const IS_ERROR = /"level":"(error|fatal)"/

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
  } catch {} // no log yet at the first start
  return openSync(logFile, 'w')
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // already ended
}

/** Waits for a program of a previous run: after a kill -9 it may still be stopping and lock the data folder. */
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
