import type { Campaign } from './campaign.model.ts'

/** Where the links of previews lead: a name that never resolves (RFC 2606). */
const PREVIEW_URL = 'https://preview.invalid'

/** What a mail shows besides its campaign. */
export type Shown = {
  contact: unknown
  organization: string
  sender: { name: string; email: string }
}

/** Returns the variables of a campaign's mail, with links that lead nowhere. */
export function variablesFor({ name }: Pick<Campaign, 'name'>, { contact, organization, sender }: Shown) {
  return {
    contact,
    campaign: { name },
    organization: { name: organization },
    sender: { name: sender.name, email: sender.email },
    unsubscribe_url: `${PREVIEW_URL}/unsubscribe`,
    web_version_url: `${PREVIEW_URL}/web-version`,
    data: {},
  }
}
