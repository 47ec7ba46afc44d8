/** Where progress is shown: a bar on a terminal, otherwise a line every few seconds. */
export type Output = { isTTY?: boolean; columns?: number; write(text: string): unknown }

/** Shows how far something has come. */
export type Progress = {
  /** Shows `share`, from 0 to 1, followed by `details`. */
  show(share: number, details: string): void
  /** Keeps the last line. */
  end(): void
}

const BAR_WIDTH = 30
const LINE_EVERY_MS = 5_000
const CLEAR_LINE = '\r\u001b[K'

/** Creates the progress of a named task. */
export function createProgress(output: Output, name: string): Progress {
  return output.isTTY ? movingBar(output, name) : plainLines(output, name)
}

function movingBar(output: Output, name: string): Progress {
  return {
    show(share, details) {
      const done = Math.round(share * BAR_WIDTH)
      const bar = '█'.repeat(done) + '░'.repeat(BAR_WIDTH - done)
      const line = `${name} ${bar} ${percent(share)} ${details}`
      output.write(CLEAR_LINE + line.slice(0, (output.columns ?? 80) - 1))
    },
    end: () => output.write('\n'),
  }
}

function plainLines(output: Output, name: string): Progress {
  let shownAt = -Infinity
  let shown = ''
  return {
    show(share, details) {
      const now = performance.now()
      const line = `${name} ${percent(share)} ${details}`.trimEnd()
      const isNew = line !== shown && (now - shownAt >= LINE_EVERY_MS || share >= 1)
      if (!isNew) return
      output.write(`${line}\n`)
      shown = line
      shownAt = now
    },
    end() {},
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 100)}%`.padStart(4)
}
