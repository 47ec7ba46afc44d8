/** A page of a list, as the API answers it. */
export type Page = {
  docs: unknown[]
  totalDocs: number
  limit: number
  totalPages: number
  page: number
  pagingCounter: number
  hasPrevPage: boolean
  hasNextPage: boolean
  prevPage: number | null
  nextPage: number | null
}

/** Puts the records of a page into its envelope. */
export function envelope(docs: unknown[], totalDocs: number, page: number, limit: number): Page {
  const totalPages = Math.max(1, Math.ceil(totalDocs / limit))
  const hasPrevPage = page > 1
  const hasNextPage = page < totalPages
  return {
    docs,
    totalDocs,
    limit,
    totalPages,
    page,
    pagingCounter: (page - 1) * limit + 1,
    hasPrevPage,
    hasNextPage,
    prevPage: hasPrevPage ? page - 1 : null,
    nextPage: hasNextPage ? page + 1 : null,
  }
}

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1000
const MAX_PAGE = 2 ** 31 - 1

/** Records on a page: 10 where the wish is no positive number, 1000 at most. */
export function clampLimit(limit: number | undefined): number {
  return Math.min(positive(limit, DEFAULT_LIMIT), MAX_LIMIT)
}

/** Number of the page: the first one where the wish is no positive number. */
export function clampPage(page: number | undefined): number {
  return Math.min(positive(page, 1), MAX_PAGE)
}

function positive(value: number | undefined, fallback: number): number {
  const whole = Math.floor(Number(value))
  return whole >= 1 ? whole : fallback
}
