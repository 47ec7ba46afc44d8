const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/** Returns a duration in milliseconds as minutes and seconds: `29:05`. */
export function timeLeft(ms: number): string {
  const left = Math.max(0, ms)
  const seconds = Math.floor((left % MINUTE_MS) / SECOND_MS)
  return `${Math.floor(left / MINUTE_MS)}:${String(seconds).padStart(2, '0')}`
}
