/** What a template of a mail can show, apart from `data`. All of it is plain JSON. */
export type MailVariables = {
  contact: { email: string; name: string | null; attributes: Record<string, unknown>; tags: string[] }
  campaign?: { name: string }
  organization: { name: string }
  sender: { name: string | null; email: string }
  unsubscribe_url?: string
  web_version_url?: string
  data?: Record<string, unknown>
}

/** Returns the contact that previews and test mails show when the audience is empty. */
export function sampleContact(): MailVariables['contact'] {
  return { email: 'ada@example.com', name: 'Ada Lovelace', attributes: {}, tags: [] }
}
