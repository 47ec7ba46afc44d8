import type { List, Page } from './call.ts'

/** Returns a list whose page is requested when it is awaited, and whose records are requested when it is iterated. */
export function listOf<T>(page: () => Promise<Page<T>>, records: () => AsyncIterator<T>): List<T> {
  let requested: Promise<Page<T>> | undefined
  const once = () => {
    requested ??= page()
    return requested
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: a request is only sent for what is used, a page or all records
    then: (fulfilled, rejected) => once().then(fulfilled, rejected),
    catch: rejected => once().catch(rejected),
    finally: settled => once().finally(settled),
    [Symbol.toStringTag]: 'List',
    [Symbol.asyncIterator]: records,
  }
}

/**
 * Yields the records of a JSON array of objects as they come.
 * @throws {SyntaxError} if the array ends early
 */
export async function* recordsOf<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const { scan, isComplete } = createScanner()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      for (const text of scan(decoder.decode(value, { stream: !done }))) yield JSON.parse(text) as T
      if (done) break
    }
    if (!isComplete()) throw new SyntaxError('the answer ended early')
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Returns a function that takes the text of a JSON array in parts and returns the objects that are complete. */
function createScanner() {
  let pending = ''
  let scanned = 0
  let depth = 0
  let isInText = false
  let isComplete = false
  const scan = (part: string): string[] => {
    pending += part
    const found: string[] = []
    const marks = /\\.|["[\]{}]/gs
    marks.lastIndex = scanned
    let start = 0
    for (let match = marks.exec(pending); match; match = marks.exec(pending)) {
      const [mark] = match
      scanned = marks.lastIndex
      if (mark === '"') isInText = !isInText
      else if (isInText) continue
      else if (mark === '[' || mark === '{') {
        if (++depth === 2) start = match.index
      } else if (--depth === 1) {
        found.push(pending.slice(start, scanned))
        start = scanned
      } else isComplete = depth === 0
    }
    // A backslash at the end belongs to the next part.
    const isCut = scanned < pending.length && pending.endsWith('\\')
    scanned = pending.length - start - (isCut ? 1 : 0)
    pending = pending.slice(start)
    return found
  }
  return { scan, isComplete: () => isComplete }
}
