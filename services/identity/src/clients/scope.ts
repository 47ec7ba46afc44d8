import { AppError } from '@rollcall/contract'

/**
 * Reads a scope (RFC 6749, 3.3): pairs separated by spaces, each once.
 * @param held the pairs that may be asked for
 * @throws {AppError} of the code, naming what exceeds them
 */
export function readScope(
  scope: string,
  held: readonly string[],
  code: 'invalid_scope' | 'invalid_client_metadata',
): string[] {
  const pairs = [...new Set(scope.split(' ').filter(Boolean))]
  const excess = pairs.filter(pair => !held.includes(pair))
  if (pairs.length === 0) throw new AppError(code, { message: 'the scope is empty' })
  if (excess.length > 0) throw new AppError(code, { message: `scope that is not to be had: ${excess.join(' ')}` })
  return pairs
}
