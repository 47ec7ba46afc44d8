import { type Api, bodyOf } from '../api.ts'
import type { TestStack } from '../stack.ts'

/** Settings of a stack for `newOrganization`. */
export const organizationSettings = { REGISTRATION: 'open', TRUST_PROXY: '1' }

let organizations = 0

/**
 * Registers an organization with these attributes (type by slug). Returns its owner, with an address of their own, so
 * that organizations do not share limits.
 */
export async function newOrganization({ api }: TestStack, attributes: Record<string, string> = {}): Promise<Api> {
  const number = ++organizations
  const visitor = api.with({ 'x-forwarded-for': `198.51.${number >> 8}.${number & 255}` })
  const person = { name: 'Owner', email: `owner${number}@example.com`, password: 'made for tests only' }
  const { token } = await bodyOf(visitor.post<{ token: string }>('/api/auth/register', person), 201)
  const owner = visitor.as(token)
  for (const [slug, type] of Object.entries(attributes)) {
    await bodyOf(owner.post('/api/audience/attributes', { name: slug, slug, type }), 201)
  }
  return owner
}
