/** Path under the origin, and secret, of a mailed link. */
type Link = { path: string; secret: string }

let secret = ''

/** Returns the secret of the mailed link that opened this page, empty if another address did. */
export function linkSecret(): string {
  return secret
}

/** Keeps the secret of a mailed link in memory, and replaces the address by one without it. */
export function hideLinkSecret(): void {
  const link = readLink(location.href)
  if (!link) return
  secret = link.secret
  history.replaceState(history.state, '', link.path)
}

/** Reads the address of a mailed link: undefined for any other address. */
export function readLink(href: string): Link | undefined {
  const { pathname, searchParams } = new URL(href)
  const [, path, invitation] = /^(\/console\/invitations)\/([^/]+)\/?$/.exec(pathname) ?? []
  if (path && invitation) return { path, secret: invitation }
  const token = searchParams.get('token')
  return token && /^\/console\/(set-password|verify-email)\/?$/.test(pathname)
    ? { path: pathname, secret: token }
    : undefined
}
