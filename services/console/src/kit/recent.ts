/** A page that was shown in this tab. */
export type RecentPage = { path: string; title: string }

const STORED_AS = 'rollcall.recent'
const KEPT = 5

/** Returns the records that a person looked at last in this tab, newest first. */
export function recentPages(userId: string): RecentPage[] {
  const { owner, pages } = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '{}') as {
    owner?: string
    pages?: RecentPage[]
  }
  return owner === userId && pages ? pages : []
}

/** Notes that a person looks at a record. */
export function rememberPage(userId: string, page: RecentPage): void {
  const others = recentPages(userId).filter(({ path }) => path !== page.path)
  const pages = [page, ...others].slice(0, KEPT)
  sessionStorage.setItem(STORED_AS, JSON.stringify({ owner: userId, pages }))
}
