import { defineCollections } from '@rollcall/store'
import { emailChangeSchema } from './account/email-change.model.ts'
import { activitySchema } from './activities/activity.model.ts'
import { clientSchema } from './clients/client.model.ts'
import { featureSchema } from './features/feature.model.ts'
import { organizationSchema } from './organizations/organization.model.ts'
import { roleSchema } from './roles/role.model.ts'
import { pendingSignInSchema } from './second-factor/pending-sign-in.model.ts'
import { deviceSchema } from './sessions/device.model.ts'
import { sessionSchema } from './sessions/session.model.ts'
import { signInCodeBudgetSchema, signInCodeSchema } from './sessions/sign-in-code.model.ts'
import { signInLimitSchema } from './sessions/sign-in-limit.model.ts'
import { tokenSchema } from './tokens/token.model.ts'
import { tokenUseSchema } from './tokens/token-use.model.ts'
import { passwordResetSchema } from './users/password-reset.model.ts'
import { userSchema } from './users/user.model.ts'
import { userEmailSchema } from './users/user-email.model.ts'
import { invitationSchema } from './workspaces/invitation.model.ts'
import { memberSchema } from './workspaces/member.model.ts'
import { workspaceSchema } from './workspaces/workspace.model.ts'

/** The collections of identity. */
export const collections = defineCollections({
  organizations: organizationSchema,
  users: userSchema,
  sessions: sessionSchema,
  signInCodes: signInCodeSchema,
  signInCodeBudgets: signInCodeBudgetSchema,
  signInLimits: signInLimitSchema,
  pendingSignIns: pendingSignInSchema,
  clients: clientSchema,
  roles: roleSchema,
  tokens: tokenSchema,
  tokenUses: tokenUseSchema,
  devices: deviceSchema,
  activities: activitySchema,
  passwordResets: passwordResetSchema,
  emailChanges: emailChangeSchema,
  userEmails: userEmailSchema,
  features: featureSchema,
  workspaces: workspaceSchema,
  members: memberSchema,
  invitations: invitationSchema,
})

/** The collections in a store. */
export type Collections = ReturnType<typeof collections>
/** The collections as one organization sees them. */
export type Tenant = ReturnType<Collections['of']>
