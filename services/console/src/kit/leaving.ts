import type { ListSearch } from './list-search.ts'

type Place = { pathname: string; search: unknown }

/** Whether a navigation takes a form away: it goes to another page or tab, or closes what the address has opened. */
export function takesAway(current: Place, next: Place): boolean {
  if (current.pathname !== next.pathname) return true
  const [before, after] = [current.search, next.search] as [ListSearch, ListSearch]
  const closes = (name: 'new' | 'show') => before[name] !== undefined && before[name] !== after[name]
  return before.tab !== after.tab || closes('new') || closes('show')
}
