import { parseDate } from './date.ts'
import { AppError } from './errors.ts'

/** An interval of a series, in UTC; weeks begin on Monday. */
export type Interval = 'hour' | 'day' | 'week' | 'month'

const MAX_POINTS = 400
const USUAL_POINTS = 30

/** Returns the start of the interval that contains a time. */
export function startOf(interval: Interval, at: Date): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  if (interval === 'month') return new Date(Date.UTC(year, month, 1))
  if (interval === 'hour') return new Date(Date.UTC(year, month, day, at.getUTCHours()))
  return new Date(Date.UTC(year, month, interval === 'day' ? day : day - ((at.getUTCDay() + 6) % 7)))
}

/** Returns the start of the interval after the one that starts at a time. */
export function nextOf(interval: Interval, start: Date): Date {
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()]
  if (interval === 'month') return new Date(Date.UTC(year, month + 1, 1))
  if (interval === 'hour') return new Date(start.getTime() + 3_600_000)
  return new Date(Date.UTC(year, month, day + (interval === 'day' ? 1 : 7)))
}

/**
 * Returns the starts of the intervals from `from` to `to`, oldest first; none after now. Default: up to now, from 29 days
 * (with `hour`: hours) before the end.
 * @throws {AppError} request.invalid_field for a period that ends before it starts or has more than 400 points
 */
export function intervalStarts({ from, to }: { from?: string; to?: string }, interval: Interval): Date[] {
  const now = new Date()
  const last = to === undefined ? now : parseDate(to)!
  const usualMs = (USUAL_POINTS - 1) * (interval === 'hour' ? 3_600_000 : 86_400_000)
  const first = from === undefined ? new Date(last.getTime() - usualMs) : parseDate(from)!
  if (first > last) throw new AppError('request.invalid_field', { path: 'to', reason: 'must not be before from' })
  const starts: Date[] = []
  for (let start = startOf(interval, first); start <= last && start <= now; start = nextOf(interval, start)) {
    if (starts.length === MAX_POINTS) {
      const reason = `more than ${MAX_POINTS} points: choose a later start or a longer interval`
      throw new AppError('request.invalid_field', { path: 'from', reason })
    }
    starts.push(start)
  }
  return starts
}
