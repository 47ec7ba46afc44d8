let openedAt: string | undefined

/** Notes when the page was opened: at the first answer, by the server's clock. That of the browser may be wrong. */
export function noteAnswer({ headers }: Pick<Response, 'headers'>): void {
  const date = headers.get('date')
  if (date) openedAt ??= new Date(date).toISOString()
}

/** Returns when the page was opened, to compare with times of records. */
export function pageOpenedAt(): string {
  openedAt ??= new Date().toISOString()
  return openedAt
}
