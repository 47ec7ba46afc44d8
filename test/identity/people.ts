import { type Api, bodyOf, signIn } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import type { TestStack } from '../stack.ts'

/** A user, signed in. */
export type Person = { id: string; email: string; api: Api }

export const password = 'made for tests only'

let number = 0

/** Returns an unused name. */
export function unique(what: string): string {
  number++
  return `${what}-${number}`
}

/** Creates an account with a role, and signs in. */
export async function addPerson({ api, owner }: TestStack, role = 'user'): Promise<Person> {
  const email = `${unique('person')}@example.com`
  const account = { name: 'Person', email, password, role }
  const { id } = await bodyOf(fromElsewhere(owner).post<{ id: string }>('/api/users', account), 201)
  return { id, email, api: fromElsewhere(await signIn(fromElsewhere(api), email, password)) }
}

/** Creates a role with a new name. */
export async function saveRole(
  api: Api,
  permissions: object,
  more: { kind?: 'api' | 'user'; name?: string; description?: string } = {},
): Promise<Role> {
  const role = { name: unique('role'), kind: 'api', permissions, ...more }
  return bodyOf(fromElsewhere(api).post<Role>('/api/access-control/save-role', role))
}

/** A role in the API. */
export type Role = {
  id: string
  name: string
  kind: string
  builtIn: boolean
  permissions: Record<string, string[]>
  tokenCount: number
  memberCount: number
  affected: { tokens: number; members: number }
  gained: string[]
  lost: string[]
  affectedNames: { tokens: string[]; members: string[] }
}

/** The body of an error. */
export type Refusal = { error: true; message: string; path?: string }
