import type { TokenUse } from '@rollcall/sdk'
import type { Grants } from '../roles/matrix.ts'
import { toggled } from '../roles/matrix.ts'

/** Levels of the heat map: 0 is never used. */
export const LEVELS = 4

/** How often a token has used a permission. */
export type Use = Pick<TokenUse, 'resource' | 'action' | 'count' | 'lastAt'>

/** Returns exactly the permissions that were used, as grants of a role. */
export function grantsUsed(uses: readonly Use[]): Grants {
  return uses
    .filter(({ count }) => count > 0)
    .reduce<Grants>((grants, { resource, action }) => toggled(grants, resource, action), {})
}

/** Returns how hot a count is among counts of which `most` is the largest: 0 for none, 1 to `LEVELS`, logarithmic. */
export function levelOf(count: number, most: number): number {
  if (count <= 0) return 0
  if (most <= 1) return LEVELS
  return 1 + Math.round(((LEVELS - 1) * Math.log(count)) / Math.log(most))
}

/** Returns the use of a permission, if there is any. */
export function useOf(uses: readonly Use[], resource: string, action: string): Use | undefined {
  return uses.find(use => use.resource === resource && use.action === action)
}
