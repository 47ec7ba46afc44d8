const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const SOON = 14 * DAY

/** Returns "3 hours ago", "in 2 days" of the calendar; a date where it is further away than two weeks. */
export function relativeTime(at: Date, now: Date, language: string): string {
  const distance = at.getTime() - now.getTime()
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  if (Math.abs(distance) < MINUTE) return format.format(0, 'second')
  if (Math.abs(distance) < HOUR) return format.format(Math.trunc(distance / MINUTE), 'minute')
  if (Math.abs(distance) < DAY) return format.format(Math.trunc(distance / HOUR), 'hour')
  if (Math.abs(distance) < SOON) return format.format(Math.round((midnightOf(at) - midnightOf(now)) / DAY), 'day')
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return at.toLocaleDateString(language, { day: 'numeric', month: 'short', ...year })
}

function midnightOf(time: Date): number {
  return new Date(time).setHours(0, 0, 0, 0)
}
