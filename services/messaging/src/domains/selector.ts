import { createHash } from 'node:crypto'

/** The name of a new DKIM key: of this organization alone, so that several may send for one domain, and not taken yet. */
export function newSelector(organizationId: string, taken: readonly string[]): string {
  const mark = createHash('sha256').update(organizationId).digest('hex').slice(0, 10)
  const numbers = taken.map(selector => Number(/^rc(\d+)-/.exec(selector)?.[1] ?? 0))
  return `rc${Math.max(0, ...numbers) + 1}-${mark}`
}
