import type { OrganizationSettings, UpdateSettingsBody } from '@rollcall/sdk'

/** Returns the settings that a form changed, as the API takes them. Blank lines of origins do not count. */
export function changedSettings(before: OrganizationSettings, after: OrganizationSettings): UpdateSettingsBody {
  const names = Object.keys(after) as (keyof OrganizationSettings)[]
  const wanted = { ...after, allowedOrigins: after.allowedOrigins.map(line => line.trim()).filter(Boolean) }
  const changed = names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(wanted[name]))
  return Object.fromEntries(changed.map(name => [name, wanted[name]]))
}
