import type { List } from '@rollcall/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'

const PART = 50

/** Reads the first part of a list, newest first, and with `more` the next ones. `key` names the list in the cache. */
export function useLoadMore<T extends { _id: string }>(
  key: readonly unknown[],
  list: (part: { page: number; limit: number }, options: { signal: AbortSignal }) => List<T>,
) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isFetchNextPageError } =
    useInfiniteQuery({
      queryKey: key,
      queryFn: async ({ pageParam, signal }) => await list({ page: pageParam, limit: PART }, { signal }),
      initialPageParam: 1,
      getNextPageParam: page => page.nextPage,
      select: ({ pages }) => ({ docs: recordsOf(pages) }),
    })
  return {
    data,
    error: isFetchNextPageError ? null : error,
    refetch,
    more: { hasNextPage, fetchNextPage, isFetchingNextPage, error: isFetchNextPageError ? error : null },
  }
}

/** Returns the records of pages, each once: records that are added meanwhile move others to the next page. */
export function recordsOf<T extends { _id: string }>(pages: readonly { docs: readonly T[] }[]): T[] {
  const records = pages.flatMap(({ docs }) => docs)
  return [...new Map(records.map(record => [record._id, record])).values()]
}
