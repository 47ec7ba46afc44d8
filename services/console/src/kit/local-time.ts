const MINUTE_MS = 60_000

/** Returns a time as an input of type `datetime-local` takes it, in the person's time zone. */
export function toLocal(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

/** Returns what such an input holds as an ISO time; undefined if it is empty or no time. */
export function fromLocal(text: string): string | undefined {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
