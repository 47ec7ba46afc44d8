const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ['minute', MINUTE, HOUR],
  ['hour', HOUR, DAY],
  ['day', DAY, 14 * DAY],
] as const

/** Returns "3 hours ago", "in 2 days"; a date where it is further away than two weeks. */
export function relativeTime(at: Date, now: Date, language: string): string {
  const distance = at.getTime() - now.getTime()
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  if (Math.abs(distance) < MINUTE) return format.format(0, 'second')
  for (const [unit, size, end] of STEPS) {
    if (Math.abs(distance) < end) return format.format(Math.trunc(distance / size), unit)
  }
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return at.toLocaleDateString(language, { day: 'numeric', month: 'short', ...year })
}
