// `npm run import`: a client of the public API for the command line.
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { createClient, RollcallError } from '@rollcall/sdk'
import { readCommand, USAGE } from './options.ts'
import { Problem, UsageProblem } from './problem.ts'
import { type Run, runImport, runUndo } from './run.ts'

const FAILED = 1
const INVALID_COMMAND = 2
/** With growing pauses about a minute: a gateway may restart meanwhile, and jobs continue. */
const MAX_RETRIES = 12

async function main(): Promise<number> {
  // npm changes to the folder of package.json; paths are relative to the folder of the command.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
  const command = readCommand(process.argv.slice(2), process.env)
  if (!command) {
    process.stdout.write(USAGE)
    return 0
  }
  const { url, token, task } = command
  const interrupted = new AbortController()
  process.on('SIGINT', () => {
    // The second time it exits without waiting for the service.
    if (interrupted.signal.aborted) process.exit(FAILED)
    interrupted.abort(new Problem('interrupted'))
  })
  const client = createClient({ baseUrl: url, token, maxRetries: MAX_RETRIES })
  const run: Run = { client, url, out: process.stdout, log: process.stderr, confirm, interrupted: interrupted.signal }
  const completed = task.kind === 'undo' ? await runUndo(run, task) : await runImport(run, task)
  return completed ? 0 : FAILED
}

/** Asks for confirmation; true without a terminal. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const left = once(asking, 'close').then(() => 'no') // Ctrl-C and Ctrl-D end here
  try {
    const answer = await Promise.race([asking.question(`${question} [Y/n] `), left])
    return /^(y|yes|)$/i.test(answer.trim())
  } finally {
    asking.close()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof Problem || error instanceof RollcallError)) throw error
  process.stderr.write(`${error.message}\n`)
  if (error instanceof UsageProblem) process.stderr.write(`\n${USAGE}`)
  process.exitCode = error instanceof UsageProblem ? INVALID_COMMAND : FAILED
}
