const STORED_AS = 'rollcall.reloadedAt'
const MINUTE_MS = 60_000

type Tab = { sessionStorage: Pick<Storage, 'getItem' | 'setItem'>; location: { reload: () => void } }

/**
 * Reloads a tab that requests a file of an older release. Not twice within a minute: then the file is missing from the
 * newer release too.
 */
export function reloadForRelease({ sessionStorage, location }: Tab, now = Date.now()): void {
  const last = sessionStorage.getItem(STORED_AS)
  if (last !== null && now - Number(last) < MINUTE_MS) return
  sessionStorage.setItem(STORED_AS, String(now))
  location.reload()
}
