import { useSearch } from '@tanstack/react-router'
import type { ListSearch } from './list-search.ts'

/** Returns the id of the record that is shown beside the list. */
export function useShown(): string | undefined {
  return (useSearch({ strict: false }) as ListSearch).show
}

/** Returns the search parameters of a link that shows a record beside the list. */
export function showing(id: string): (before: ListSearch) => ListSearch {
  return before => ({ ...before, show: id })
}
