import { AppError, json, updated } from '@rollcall/contract'
import type { UpdateSettingsRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import { changedFields, changesBetween, objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { hasSecondFactor } from '../second-factor/second-factor.ts'
import { requirePlace } from '../users/profile.ts'
import { NO_TRACKING, type Organization, type Settings } from './organization.model.ts'

const MAX_ORIGINS = 50
const MAX_ORIGIN_LENGTH = 255

/** The settings as shown: those of the organization, with its name. */
type Shown = Settings & Pick<Organization, 'name'>

/** Handlers for the settings of the caller's organization. */
export const settings = (context: Context): Handlers<'rollcall.identity.v1.Settings'> => ({
  async getSettings(_request, { caller: { organizationId } }) {
    const organization = await context.collections.unscoped.organizations.findById(organizationId).lean()
    if (!organization) throw new AppError('organization.not_found')
    return json(shown(context, organization))
  },

  async updateSettings(request, { caller }) {
    refuseInvalid(request)
    // Cached credentials contain allowed origins, and whether a second factor is missing.
    return context.credentials.change({ organizationId: caller.organizationId }, timeoutMs =>
      context.store.transaction(tx => updateWithin(context, request, caller, tx), { timeoutMs }),
    )
  },
})

async function updateWithin(
  context: Context,
  { defaultTracking, ...request }: UpdateSettingsRequest,
  caller: Caller,
  tx: ClientSession,
): Promise<Updated> {
  const { organizations } = context.collections.unscoped
  const organization = await organizations.findById(caller.organizationId).session(tx).lean()
  if (!organization) throw new AppError('organization.not_found')
  const before = shown(context, organization)
  const wanted: Shown = { ...before, ...request, defaultTracking: { ...before.defaultTracking, ...defaultTracking } }
  const changed = changedFields(before, wanted)
  if (changed.length === 0) return updated()
  if (changed.includes('requireMfa') && wanted.requireMfa) await requireOwnSecondFactor(context, caller, tx)
  const set = Object.fromEntries(changed.map(field => [field === 'name' ? field : `settings.${field}`, wanted[field]]))
  await organizations.updateOne({ _id: organization._id }, { $set: set }, { session: tx })
  const { _id } = organization
  const content = {
    organization: _id,
    subject: _id,
    data: { settings: wanted, changed, changes: changesBetween(changed, before, wanted) },
  }
  await publish(context, caller, 'settings.updated', content, tx)
  return updated()
}

function shown({ sessionHours }: Context, { name, settings }: Organization): Shown {
  return {
    name,
    timezone: 'UTC',
    language: 'en',
    allowedOrigins: [],
    sessionHours,
    requireMfa: false,
    eventRetentionDays: 90,
    defaultTracking: NO_TRACKING,
    ...settings,
  }
}

/** Requires a second factor of the caller who makes it mandatory, so that somebody can turn the setting off again. */
async function requireOwnSecondFactor(
  { collections }: Context,
  { organizationId, userId }: Caller,
  tx: ClientSession,
): Promise<void> {
  const user = await collections.of(organizationId).users.findOne({ _id: objectId(userId) }, { tx })
  if (!user || !hasSecondFactor(user)) throw new AppError('second_factor.own_required')
}

function refuseInvalid(request: UpdateSettingsRequest): void {
  requirePlace('timezone', request.timezone)
  requirePlace('language', request.language)
  const { allowedOrigins = [] } = request
  const path = 'allowedOrigins'
  if (allowedOrigins.length > MAX_ORIGINS)
    throw new AppError('request.invalid_field', { path, reason: `at most ${MAX_ORIGINS} of them` })
  const wrong = allowedOrigins.findIndex(origin => !isOrigin(origin))
  if (wrong !== -1)
    throw new AppError('request.invalid_field', {
      path: `${path}.${wrong}`,
      reason: 'must be an origin, such as https://app.example.com',
    })
}

/** Whether a text is an origin as browsers send it: scheme, host and port only, in lower case. */
function isOrigin(text: string): boolean {
  if (text.length > MAX_ORIGIN_LENGTH || !/^https?:\/\/[^*]+$/.test(text)) return false
  return URL.parse(text)?.origin === text
}
