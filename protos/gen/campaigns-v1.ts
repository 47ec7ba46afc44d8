// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, IdRequest, ListRequest, Updated } from './types.ts'
/** Templates of mails, in Liquid. They can show `contact.email`, `contact.name`, `contact.tags` and `contact.attributes.<slug>`, `campaign.name`, `organization.name`, `sender.name` and `sender.email`, `unsubscribe_url`, `web_version_url` and `data.<name>`. Values are escaped in HTML. A variable without a value shows nothing. The output of each part has at most 256 KiB and the whole mail takes at most 50 ms. */
export type Templates = {
  /** Lists the templates, newest first. Use it to offer them for choice. Honours the shared list parameters. */
  listTemplates: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a template. Use it to write the content of several campaigns or messages once. The name is unique, regardless of case. Content that does not parse is refused with its line and column. */
  createTemplate: { kind: 'unary'; request: CreateTemplateRequest; response: HttpBody }
  /** Returns a template. Use it to show or edit its content. */
  getTemplate: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a template. Use it to change its content. Requires at least one field. What was sent stays as it was. */
  updateTemplate: { kind: 'unary'; request: UpdateTemplateRequest; response: Updated }
  /** Deletes a template and returns it. Use it when nobody needs the content any more. */
  deleteTemplate: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Renders a template for a contact and returns the result; nothing is sent. Use it to look at a template before it is used. Without contactId it shows the oldest contact of the audience, or a sample. A template has no sender and no campaign: their variables show samples, and the links lead nowhere. */
  previewTemplate: { kind: 'unary'; request: PreviewTemplateRequest; response: HttpBody }
}

/** Template as JSON. */
export type TemplateJson = {
  _id: string
  id: string
  name: string
  subject: string | null
  html: string
  /** Plain text. Null: it is made from the HTML. */
  text: string | null
  description: string
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Template. */
export const templateFields = {
  'name': 'string',
  'subject': 'string',
  'html': 'string',
  'text': 'string',
  'description': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

export type CreateTemplateRequest = {
  name: string
  subject?: string
  html: string
  text?: string
  description?: string
}

export type UpdateTemplateRequest = {
  id: string
  name?: string
  /** null removes it. */
  subject?: string
  html?: string
  /** null: it is made from the HTML. */
  text?: string
  description?: string
}

export type PreviewTemplateRequest = {
  id: string
  /** The contact to show. */
  contactId?: string
  /** What `data` shows. */
  data?: Record<string, unknown>
}

/** A rendered mail. */
export type PreviewJson = {
  subject: string
  /** Null: the mail is plain text. */
  html: string | null
  text: string
}
