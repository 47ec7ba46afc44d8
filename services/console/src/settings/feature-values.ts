import type { Feature, UpdateFeatureBody } from '@rollcall/sdk'

/** What a role makes of a feature; `default`: nothing else than for everyone. */
export type RoleValue = 'default' | 'on' | 'off'

/** A feature as a form holds it. A role that is not named has the value `default`. */
export type FeatureValues = {
  slug: string
  name: string
  description: string
  default: boolean
  roles: Record<string, RoleValue>
}

/** Returns what the form begins with. */
export function valuesOfFeature(feature?: Feature): FeatureValues {
  const { slug = '', name = '', description = '', default: isOn = false, roles = {} } = feature ?? {}
  const values = Object.entries(roles).map(([role, isOn]) => [role, isOn ? 'on' : 'off'])
  return { slug, name, description, default: isOn, roles: Object.fromEntries(values) }
}

/** Returns what a form changed, as the API takes it. */
export function changedFeature(before: FeatureValues, after: FeatureValues): UpdateFeatureBody {
  const fields = (['name', 'description', 'default'] as const).filter(field => before[field] !== after[field])
  const roles = Object.keys(after.roles).filter(role => after.roles[role] !== (before.roles[role] ?? 'default'))
  return {
    ...Object.fromEntries(fields.map(field => [field, after[field]])),
    ...(roles.length > 0 && { roles: Object.fromEntries(roles.map(role => [role, switchOf(after.roles[role])])) }),
  }
}

function switchOf(value: RoleValue | undefined): boolean | null {
  return value === 'default' ? null : value === 'on'
}
