import vm from 'node:vm'

/** The parts of a mail that are templates. */
export type ContentField = 'subject' | 'preheader' | 'html' | 'text'

/** The largest output of one part, in bytes of UTF-8. */
export const MAX_OUTPUT_BYTES = 256 * 1024
/** Processor time for all parts of one mail, in milliseconds. */
const MAX_MS = 50
/** How long an attempt may take on a busy machine, where a thread gets little of the processor, in milliseconds. */
const MAX_WAIT_MS = 2000

/** A template that does not parse, or whose output takes too long or gets too large. The message is for its author. */
export class TemplateError extends Error {
  readonly field: ContentField

  constructor(field: ContentField, message: string) {
    super(message)
    this.field = field
  }
}

/** Thrown by `withinTime`. */
export class TimeLimitError extends Error {}

const context = vm.createContext({})
const script = new vm.Script('run()')

/**
 * Runs a synchronous function and stops it for good after 50 ms of processor time, whatever it does. Checks within the
 * engine would not do: one regular expression of a filter can take minutes. The function runs again when it was
 * stopped without having had its time, and once more to allow for code that is compiled at first use.
 */
export function withinTime<Result>(run: () => Result): Result {
  context.run = run
  let isWarm = false
  for (let timeout = MAX_MS; timeout < MAX_WAIT_MS; ) {
    const before = process.threadCpuUsage()
    try {
      return script.runInContext(context, { timeout })
    } catch (error) {
      if (!isTimeout(error)) throw error
    }
    const { user, system } = process.threadCpuUsage(before)
    if (user + system < 0.9 * MAX_MS * 1000) {
      timeout *= 2
    } else {
      if (isWarm) break
      isWarm = true
    }
  }
  throw new TimeLimitError(`takes longer than ${MAX_MS} ms`)
}

/** The error is of the realm of the context: it is no instance of this realm's Error. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
