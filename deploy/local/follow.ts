import { closeSync, openSync, readSync } from 'node:fs'

const POLL_MS = 200

/** Calls `onLine` for each new line of a file; returns a stop function. Polls, because file events are not portable. */
export function follow(file: string, onLine: (line: string) => void): () => void {
  const descriptor = openSync(file, 'r')
  const buffer = Buffer.alloc(64 * 1024)
  let rest = ''
  const read = () => {
    for (let size = readSync(descriptor, buffer); size > 0; size = readSync(descriptor, buffer)) {
      const lines = (rest + buffer.toString('utf8', 0, size)).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(onLine)
    }
  }
  const timer = setInterval(read, POLL_MS).unref()
  return () => {
    clearInterval(timer)
    read()
    closeSync(descriptor)
  }
}
