import { createHash } from 'node:crypto'

/** Returns an unused DKIM selector; unique per organization, so that several can send for one domain. */
export function newSelector(organizationId: string, taken: readonly string[]): string {
  const mark = createHash('sha256').update(organizationId).digest('hex').slice(0, 10)
  const numbers = taken.map(selector => Number(/^rc(\d+)-/.exec(selector)?.[1] ?? 0))
  return `rc${Math.max(0, ...numbers) + 1}-${mark}`
}
