import { AppError } from '@rollcall/contract'

/**
 * Parses a scope (RFC 6749 §3.3) into resource.action pairs without duplicates.
 * @param held the pairs that may be requested
 * @throws {AppError} `<asker>.scope_empty`, or `<asker>.scope_exceeded` with the pairs that are not held
 */
export function readScope(scope: string, held: readonly string[], asker: 'client' | 'exchange'): string[] {
  const pairs = [...new Set(scope.split(' ').filter(Boolean))]
  const excess = pairs.filter(pair => !held.includes(pair))
  if (pairs.length === 0) throw new AppError(`${asker}.scope_empty`)
  if (excess.length > 0) throw new AppError(`${asker}.scope_exceeded`, { excess })
  return pairs
}
