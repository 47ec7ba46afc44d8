import { isDuplicate } from '@rollcall/store'
import type { Context } from './context.ts'
import { createOrganization } from './organizations/create-organization.ts'

/** Name of the first organization, and its owner's email and password. */
export type Bootstrap = { email: string; password: string; organization: string }

/**
 * Creates the first organization and its owner in an empty database. A unique index prevents duplicates when several
 * replicas start concurrently.
 */
export async function bootstrap(context: Context, { email, password, organization }: Bootstrap): Promise<void> {
  const { collections, passwords, store, credentials } = context
  if (await collections.unscoped.organizations.exists({})) return
  const founding = {
    organization,
    name: 'Owner',
    email,
    passwordHash: await passwords.hash(password, {}),
    bootstrap: true as const,
  }
  try {
    const made = await store.transaction(tx => createOrganization(context, founding, tx))
    await credentials.prepare(String(made.organization._id))
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}
