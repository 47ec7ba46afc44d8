const PATTERN = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):?(\d\d))?)?$/i

/**
 * Parses an ISO 8601 date or date-time, for bodies, filters and files alike. Without a zone it is UTC. Fractions are
 * truncated to milliseconds. A space may replace the T, as in RFC 3339.
 * @returns undefined for anything else, and for impossible dates and times (2024-02-31, 24:00, second 60)
 */
export function parseDate(text: string): Date | undefined {
  const parts = PATTERN.exec(text)
  if (!parts) return undefined
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(digits => Number(digits ?? 0)) as SixNumbers
  const [fraction = '', sign = '+', zoneHours = '0', zoneMinutes = '0'] = parts.slice(7)
  if (hour > 23 || minute > 59 || second > 59 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return undefined

  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = Number(`${sign}1`) * (Number(zoneHours) * 60 + Number(zoneMinutes))
  date.setUTCHours(hour, minute - offset, second, Number(fraction.padEnd(3, '0').slice(0, 3)))
  return isWritable(date) ? date : undefined
}

type SixNumbers = [number, number, number, number, number, number]

/** A zone offset can move a date out of the years with four digits. */
function isWritable(date: Date): boolean {
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999
}
