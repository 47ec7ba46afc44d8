import type { List, Page } from '@rollcall/sdk'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isFilterUnreadable, type ListRequest, type ListSearch, listQueryOf, readListSearch } from './list-search.ts'
import { pollWhile } from './polling.ts'

const REFRESH_MS = 3000

/** A list whose state is in the address. */
export type ListView<T> = {
  search: ListSearch
  /** Changes the address. Everything but the page begins at page 1 again. */
  change: (change: { [Key in keyof ListSearch]: ListSearch[Key] | undefined }, options?: { replace: boolean }) => void
  query: UseQueryResult<Page<T>>
  /** The order where the address names none. */
  usualSort: string | undefined
  /** The address has a filter that does not parse, and is left out. */
  isFilterDropped: boolean
  /** Of the API; for exports and bulk work on everything that matches. */
  request: ListRequest
}

/**
 * Reads a page of records as the address says. `key` names the records in the cache. Shows the page before until the next
 * is there, and goes back to the last page from one past the end. Reads a page again while it may change.
 */
export function useList<T>(
  key: readonly unknown[],
  searched: readonly string[],
  list: (query: ListRequest, options: { signal: AbortSignal }) => List<T>,
  { mayChange, usualSort }: { mayChange?: (page: Page<T>) => boolean; usualSort?: string | undefined } = {},
): ListView<T> {
  const raw = useSearch({ strict: false }) // with what the route does not take
  const search: ListSearch = { ...(usualSort && { sort: usualSort }), ...readListSearch(raw) }
  const change = useChangeSearch()
  const request = listQueryOf(search, searched)
  const query = useQuery({
    queryKey: [...key, 'list', request],
    queryFn: async ({ signal }) => await list(request, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: mayChange ? pollWhile(mayChange, REFRESH_MS) : false,
  })
  const { data, isPlaceholderData } = query
  const lastPage = data?.totalPages ?? 1
  const isPastEnd = !isPlaceholderData && data !== undefined && data.page > lastPage
  useEffect(() => {
    if (isPastEnd) change({ page: lastPage }, { replace: true })
  }, [isPastEnd, lastPage, change])
  return { search, change, query, usualSort, isFilterDropped: isFilterUnreadable(raw), request }
}

/** Returns a function that changes parameters of the address. */
export function useChangeSearch(): ListView<unknown>['change'] {
  const navigate = useNavigate()
  return (change, { replace } = { replace: 'q' in change }) =>
    void navigate({
      to: '.',
      search: (before: ListSearch) => clean({ ...readListSearch(before), page: undefined, ...change }),
      replace,
      resetScroll: 'page' in change,
    })
}

function clean(search: { [Key in keyof ListSearch]: ListSearch[Key] | undefined }): ListSearch {
  const entries = Object.entries(search).filter(
    ([name, value]) => value !== undefined && value !== '' && !(name === 'page' && value === 1),
  )
  return Object.fromEntries(entries)
}
