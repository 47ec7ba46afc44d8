import type en from './en.ts'

/** A variable of templates, and its name in the texts. */
export type Variable = { path: string; name: keyof typeof en.variable }

/** The variables that every mail has, by what they belong to. */
export const VARIABLES = {
  contact: [
    { path: 'contact.email', name: 'contactEmail' },
    { path: 'contact.name', name: 'contactName' },
    { path: 'contact.tags', name: 'contactTags' },
  ],
  links: [
    { path: 'unsubscribe_url', name: 'unsubscribe' },
    { path: 'web_version_url', name: 'webVersion' },
  ],
  others: [
    { path: 'sender.name', name: 'senderName' },
    { path: 'sender.email', name: 'senderEmail' },
    { path: 'organization.name', name: 'organization' },
    { path: 'campaign.name', name: 'campaign' },
  ],
} as const satisfies Record<string, readonly Variable[]>

/** Returns a text with a variable in place of what is selected. */
export function withVariable(text: string, path: string, from: number, to: number): string {
  return `${text.slice(0, from)}{{ ${path} }}${text.slice(to)}`
}
