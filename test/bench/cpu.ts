import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10

/** Returns the CPU time so far, in milliseconds, of the processes of a session. Linux only. */
export async function cpuOfSession(session: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'pid=', '-s', String(session)])
  return stdout
    .split('\n')
    .filter(Boolean)
    .reduce((sum, pid) => sum + cpuOf(Number(pid)), 0)
}

/** Returns how long the threads of the processes of a session have waited for a core so far, in milliseconds. Linux only. */
export async function waitOfSession(session: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'pid=', '-s', String(session)])
  const pids = stdout.split('\n').filter(Boolean)
  return pids.reduce((sum, pid) => sum + waitOf(Number(pid)), 0)
}

/** Returns how long the threads of a process have waited for a core so far, in milliseconds. Linux only. */
export function waitOf(pid: number): number {
  const tasks = `/proc/${Number(pid)}/task`
  const waits = readdirSync(tasks).map(task => Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[1]))
  return waits.reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0)
}

/** Returns the CPU time so far, in milliseconds, of a process. Linux only. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Returns the id of the process that was started with a port as an argument, or that names its address as Redis does. */
export async function pidByPort(port: string): Promise<number> {
  const { stdout } = await run('ps', ['-eo', 'pid=,args='])
  const line = stdout
    .split('\n')
    .find(line => !line.includes('/bin/sh') && (line.includes(` --port ${port} `) || line.endsWith(`:${port}`)))
  if (!line) throw new Error(`no process has the port ${port}`)
  return Number(line.trim().split(' ')[0])
}
