import { emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import type { CreateUserRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import type { Mail } from '../mailer.ts'
import { requireMailReach } from '../organizations/mail-reach.ts'
import { keepQuota } from '../organizations/quotas.ts'
import { deleteUser } from './delete-user.ts'
import { roleQueue, takeRole } from './member-role.ts'
import { invite } from './password-reset.ts'
import { setterOf } from './passwords.ts'
import { presentUser, type User } from './user.model.ts'

type Created = { user: User; mail: Mail | undefined }

/** Creates an account. Without a password, sends a mail to set one; sign-in is impossible until then. */
export async function createUser(context: Context, request: CreateUserRequest, caller: Caller): Promise<HttpBody> {
  const { password } = request
  if (password === undefined) await requireMailReach(context, caller.organizationId, request.email)
  const passwordHash = password === undefined ? null : await context.passwords.hash(password, setterOf(caller))
  const { user, mail } = await context.store.transaction(
    tx => create(context, request, passwordHash, caller, tx),
    roleQueue(caller.organizationId),
  )
  try {
    if (mail) await context.mailer.send(mail)
  } catch (error) {
    // Without the mail, nobody can use the account, so it must not occupy the address.
    await deleteUser(context, String(user._id), caller)
    throw error
  }
  return json(presentUser(user))
}

async function create(
  context: Context,
  { name, email, role = 'user' }: CreateUserRequest,
  passwordHash: string | null,
  caller: Caller,
  tx: ClientSession,
): Promise<Created> {
  const { users, roles } = context.collections.of(caller.organizationId)
  const carried = await takeRole(roles, role, caller, tx)
  await keepQuota(context, caller.organizationId, 'accounts', tx)
  const user = await users.insertOne({ name, email, emailKey: emailKeyOf(email), passwordHash, ...carried }, { tx })
  const data = { user: presentUser(user) }
  await publish(context, caller, 'user.created', { organization: user.organization, subject: user._id, data }, tx)
  return { user, mail: passwordHash === null ? await invite(context, user, tx) : undefined }
}
