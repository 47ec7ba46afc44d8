import { isDuplicate } from '@rollcall/store'
import type { Context } from './context.ts'
import { createOrganization } from './organizations/create-organization.ts'

/** Sign-in of the first organization's owner, and that organization's name. */
export type Bootstrap = { email: string; password: string; organization: string }

/**
 * Makes the first organization and its owner where the database holds none. Of several replicas that start at once, the
 * unique index lets one make it.
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
