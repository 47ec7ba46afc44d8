/** Records on a page at most. */
export const MAX_LIMIT = 1000
const DEFAULT_LIMIT = 10
const MAX_PAGE = 2 ** 31 - 1

/** Records on a page: 10 where the number given is not positive, 1000 at most. */
export function clampLimit(limit: number | undefined): number {
  return Math.min(positive(limit, DEFAULT_LIMIT), MAX_LIMIT)
}

/** Number of the page: the first one where the number given is not positive. */
export function clampPage(page: number | undefined): number {
  return Math.min(positive(page, 1), MAX_PAGE)
}

function positive(value: number | undefined, fallback: number): number {
  const whole = Math.floor(Number(value))
  return whole >= 1 ? whole : fallback
}
