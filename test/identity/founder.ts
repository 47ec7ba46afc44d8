import { createAuthenticator } from '@rollcall/testing/authenticator'
import { type Api, bodyOf } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { password, unique } from './people.ts'
import type { IdentityStack } from './shared-stack.ts'

/** The owner of an organization of its own, signed in. */
export type Founder = { api: Api; token: string; id: string; email: string; organizationId: string }

/** Registers an organization. Its owner has the password of `people.ts`. */
export async function found({ api }: IdentityStack): Promise<Founder> {
  const email = `${unique('founder')}@example.com`
  type Registered = { token: string; user: { id: string }; organization: { id: string } }
  const request = { name: 'Founder', email, password, organization: 'Founded Works' }
  const { token, user, organization } = await bodyOf(
    fromElsewhere(api).post<Registered>('/api/auth/register', request),
    201,
  )
  return { api: fromElsewhere(api.as(token)), token, id: user.id, email, organizationId: organization.id }
}

/** Sets up a second factor. Returns the next code of its authenticator, and the recovery codes. */
export async function setUpSecondFactor(api: Api): Promise<{ code(): string; recoveryCodes: string[] }> {
  const { secret } = await bodyOf(fromElsewhere(api).post<{ secret: string }>('/api/me/totp'))
  const { next } = createAuthenticator(secret)
  type Confirmed = { recoveryCodes: string[] }
  const confirmed = fromElsewhere(api).post<Confirmed>('/api/me/totp/confirm', { code: next() })
  return { code: next, recoveryCodes: (await bodyOf(confirmed)).recoveryCodes }
}
