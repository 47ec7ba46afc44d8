import { AppError } from '@rollcall/contract'

/**
 * Reads a scope (RFC 6749, 3.3): pairs separated by spaces, each once.
 * @param held the pairs that may be asked for
 * @throws {AppError} scope_empty or scope_exceeded of the asker, naming what exceeds them
 */
export function readScope(scope: string, held: readonly string[], asker: 'client' | 'exchange'): string[] {
  const pairs = [...new Set(scope.split(' ').filter(Boolean))]
  const excess = pairs.filter(pair => !held.includes(pair))
  if (pairs.length === 0) throw new AppError(`${asker}.scope_empty`)
  if (excess.length > 0) throw new AppError(`${asker}.scope_exceeded`, { excess })
  return pairs
}
