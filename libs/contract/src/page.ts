/** Maximum number of records on a page. */
export const MAX_LIMIT = 1000
const DEFAULT_LIMIT = 10
const MAX_PAGE = 2 ** 31 - 1

/** Returns the number of records on a page: at most 1000, and 10 if `limit` is not positive. */
export function clampLimit(limit: number | undefined): number {
  return Math.min(positive(limit, DEFAULT_LIMIT), MAX_LIMIT)
}

/** Returns the page number: 1 if `page` is not positive. */
export function clampPage(page: number | undefined): number {
  return Math.min(positive(page, 1), MAX_PAGE)
}

function positive(value: number | undefined, fallback: number): number {
  const whole = Math.floor(Number(value))
  return whole >= 1 ? whole : fallback
}
