// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { MailingLink, MailingPoint, TrackOptions, TrackOptionsJson } from './messaging-v1.ts'
import type { ActorJson, IdRequest, ListOfRequest, ListRequest, Updated } from './types.ts'
/** Campaigns: one mail to everybody on some lists or in some segments. */
export type Campaigns = {
  /** Lists the campaigns, newest first. Use it to see what is prepared, being sent and sent. Honours the shared list parameters. */
  listCampaigns: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a campaign as a draft. Use it to prepare a mailing: content, audience and sender can be added and changed until it starts. Its content is its own html and text, or that of a template. */
  createCampaign: { kind: 'unary'; request: CreateCampaignRequest; response: HttpBody }
  /** Returns a campaign. Use it to follow it: `counts` is at most a few seconds old while it is being sent. */
  getCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a campaign that is a draft or scheduled. Use it to change its content, audience or sender. Requires at least one field. `ratePerMinute` can change while it is being sent, too. Other fields of a scheduled campaign can change only if you may use its sender: 400 says why not. At its time, the sender must be one that you may use then. */
  updateCampaign: { kind: 'unary'; request: UpdateCampaignRequest; response: Updated }
  /** Deletes a campaign that is a draft or scheduled, and returns it. Use it when it is not going to be sent. */
  deleteCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Starts a campaign and returns it. Use it to send now. It is checked first: 400 names the first thing that is wrong with the sender, the audience, the content, the unsubscribe link, or how it renders for three of its contacts. The audience is taken when sending starts: contacts that join later get nothing, and nobody gets the mail twice. */
  startCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Schedules a campaign, or moves a scheduled one, and returns it. Use it to send later. It is checked as at the start, now and again at its time; if it is not ready then, it fails, and `failedReason` says why. */
  scheduleCampaign: { kind: 'unary'; request: ScheduleCampaignRequest; response: HttpBody }
  /** Pauses a campaign and returns it. Use it to stop at once and perhaps continue later: within two seconds no further mail is handed over. */
  pauseCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Resumes a paused campaign and returns it. Use it to send to those who still wait. */
  resumeCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Cancels a campaign and returns it. Use it to end one that is being sent or paused: what was sent stays sent, nobody else gets it. A scheduled campaign becomes a draft again. */
  cancelCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Sends once more to the recipients for whom sending failed, and returns the campaign. Use it when the cause is mended. Includes those for whom it is unknown whether the mail was handed over. */
  retryCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Renders a campaign for a contact and returns the result; nothing is sent. Use it to look at a campaign before it starts. Without contactId it shows the oldest contact of the audience, or a sample. Content of the request is shown instead of what is stored. The links to unsubscribe and to the web version lead nowhere. */
  previewCampaign: { kind: 'unary'; request: PreviewCampaignRequest; response: HttpBody }
  /** Sends a campaign to some addresses as a test, rendered for the oldest contact of the audience, or a sample. Use it to see the mail in real mail programs before it starts. The subject is marked as a test, and the unsubscribe link leads to a page that says it was one. The campaign does not change. */
  testCampaign: { kind: 'unary'; request: TestCampaignRequest; response: Updated }
  /** Counts the contacts of an audience by whether a campaign reaches them. Use it while choosing lists and segments: nothing is stored. Each contact counts once, under the first reason that applies to it. */
  countCampaignAudience: { kind: 'unary'; request: CountCampaignAudienceRequest; response: AudienceCounts }
  /** Checks a campaign as its start would, and returns the state of every check with the counts of its audience. Use it to show what is missing before it starts. */
  reviewCampaign: { kind: 'unary'; request: IdRequest; response: CampaignReview }
  /** Lists the recipients of a campaign and what became of each mail. Use it to find out who did not get it, and why. Empty before the start. Each recipient is kept 30 days after its mail has ended. Honours the shared list parameters. */
  listCampaignRecipients: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Returns the counts of a campaign as they are now, and by hour or day. Use it to compare campaigns and to see when they are read. */
  getCampaignReport: { kind: 'unary'; request: GetCampaignReportRequest; response: CampaignReport }
  /** Downloads the recipients of a campaign as CSV. Use it to work on them in a spreadsheet. */
  exportCampaign: { kind: 'server_stream'; request: IdRequest; response: HttpBody }
  /** Creates a draft with the content, audience and sender of a campaign. Use it to send something similar. Its name begins with "Copy of". */
  duplicateCampaign: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Who got no mail although the campaign names them. */
export type SuppressedCounts = {
  blocked: number
  unsubscribed: number
  /** The address bounced or complained before, or was suppressed by hand. */
  address: number
}

/** Who got no mail although the campaign names them. */
export type SuppressedCountsJson = {
  blocked: number
  unsubscribed: number
  /** The address bounced or complained before, or was suppressed by hand. */
  address: number
}

/** How many recipients there are of each kind. recipients = sent + failed + suppressed + waiting. */
export type CampaignCounts = {
  recipients: number
  sent: number
  delivered: number
  bounced: number
  complained: number
  opened: number
  clicked: number
  unsubscribed: number
  suppressed?: SuppressedCounts | null
  failed: number
  waiting: number
}

/** How many recipients there are of each kind. recipients = sent + failed + suppressed + waiting. */
export type CampaignCountsJson = {
  recipients: number
  sent: number
  delivered: number
  bounced: number
  complained: number
  opened: number
  clicked: number
  unsubscribed: number
  suppressed: SuppressedCountsJson
  failed: number
  waiting: number
}

/** Campaign as JSON. */
export type CampaignJson = {
  _id: string
  id: string
  name: string
  subject: string
  /** What mail clients show after the subject. */
  preheader: string | null
  html: string | null
  /** The template that holds the content, instead of html and text. */
  template: string | null
  /** Null: it is made from the HTML. */
  text: string | null
  /** Null: the default sender. */
  sender: string | null
  lists: string[]
  segments: string[]
  excludeLists: string[]
  /** Null: as fast as the quotas of the installation allow. */
  ratePerMinute: number | null
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  /** Why it paused by itself. */
  pausedReason: string | null
  /** Why it could not start at its time. */
  failedReason: string | null
  counts: CampaignCountsJson
  scheduledAt: string | null
  startedAt: string | null
  finishedAt: string | null
  createdBy: ActorJson
  /** What is counted of its recipients. */
  track: TrackOptionsJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Campaign. */
export const campaignFields = {
  'name': 'string',
  'subject': 'string',
  'preheader': 'string',
  'html': 'string',
  'template': 'objectId',
  'text': 'string',
  'sender': 'objectId',
  'lists': 'objectId[]',
  'segments': 'objectId[]',
  'excludeLists': 'objectId[]',
  'ratePerMinute': 'number',
  'status': 'string',
  'pausedReason': 'string',
  'failedReason': 'string',
  'counts': 'object',
  'counts.recipients': 'number',
  'counts.sent': 'number',
  'counts.delivered': 'number',
  'counts.bounced': 'number',
  'counts.complained': 'number',
  'counts.opened': 'number',
  'counts.clicked': 'number',
  'counts.unsubscribed': 'number',
  'counts.suppressed': 'object',
  'counts.suppressed.blocked': 'number',
  'counts.suppressed.unsubscribed': 'number',
  'counts.suppressed.address': 'number',
  'counts.failed': 'number',
  'counts.waiting': 'number',
  'scheduledAt': 'date',
  'startedAt': 'date',
  'finishedAt': 'date',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'track': 'object',
  'track.opens': 'boolean',
  'track.clicks': 'boolean',
} as const

export type CreateCampaignRequest = {
  name: string
  subject: string
  preheader?: string
  html?: string
  /** Instead of html and text. */
  template?: string
  text?: string
  sender?: string
  lists: string[]
  segments: string[]
  /** Who is on one of these gets nothing. */
  excludeLists: string[]
  /** Mails in any 60 seconds, spread evenly; 0 for no limit of its own. */
  ratePerMinute?: number
  /** What to count. Default: `defaultTracking` of the settings at this time. It needs html: links are replaced by counting ones, and an image counts opens. */
  track?: TrackOptions | null
}

export type UpdateCampaignRequest = {
  id: string
  name?: string
  subject?: string
  preheader?: string
  /** Replaces a template. */
  html?: string
  /** Replaces html and text. */
  template?: string
  text?: string
  sender?: string
  lists?: string[]
  segments?: string[]
  excludeLists?: string[]
  /** 0 for no limit of its own. */
  ratePerMinute?: number
  /** Replaces what is counted. A part that is left out is not counted. */
  track?: TrackOptions | null
}

export type ScheduleCampaignRequest = {
  id: string
  /** In the future, at most a year ahead. */
  at: string
}

export type PreviewCampaignRequest = {
  id: string
  contactId?: string
  subject?: string
  preheader?: string
  html?: string
  /** Instead of html and text. */
  template?: string
  text?: string
}

export type TestCampaignRequest = {
  id: string
  /** Who gets it. */
  to: string[]
}

export type CountCampaignAudienceRequest = {
  lists: string[]
  segments: string[]
  /** Who is on one of these gets nothing. */
  excludeLists: string[]
}

/** How many contacts an audience has. Their sum is on the lists and in the segments. */
export type AudienceCounts = {
  /** Who gets the mail, unless something changes before it is sent, or the address is suppressed by hand. */
  recipients: number
  /** On an excluded list. */
  excluded: number
  blocked: number
  unsubscribed: number
  /** The address bounced or complained before. */
  address: number
}

/** What StartCampaign would say. */
export type CampaignReview = {
  /** Every check is ok: the campaign can start. */
  ready: boolean
  /** In the order in which a start makes them. */
  checks: CampaignCheck[]
  /** Absent: the audience cannot be counted; its check says why. */
  audience?: AudienceCounts | null
}

export type CampaignCheck = {
  /** content: there is one. rendering: for the first three contacts. unsubscribe: every part has the link. */
  check: 'sender' | 'audience' | 'content' | 'rendering' | 'unsubscribe'
  /** open: it depends on a check that failed. */
  state: 'ok' | 'failed' | 'open'
  /** Why it failed. */
  reason?: string
}

export type GetCampaignReportRequest = {
  id: string
  /** Length of the intervals of the series. Default: day. */
  interval?: 'hour' | 'day'
}

export type CampaignReport = {
  counts?: CampaignCounts | null
  /** Oldest first, without intervals in which nothing happened. Those by hour are kept 30 days. */
  series: MailingPoint[]
  /** The most clicked first: at most 1000. */
  links: MailingLink[]
}

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
  /** Deletes a template and returns it. Use it when nobody needs the content any more. 409 while a campaign that is not finished uses it. */
  deleteTemplate: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Renders a template for a contact and returns the result; nothing is sent. Use it to look at a template before it is used. Without contactId it shows the oldest contact of the audience, or a sample. Content of the request is shown instead of what is stored. A template has no sender and no campaign: their variables show samples, and the links lead nowhere. */
  previewTemplate: { kind: 'unary'; request: PreviewTemplateRequest; response: HttpBody }
}

/** The content of templates. Internal: for messages that use one. */
export type TemplateContents = {
  /** Returns the content of a template. Fails with template.unknown. */
  getTemplateContent: { kind: 'unary'; request: GetTemplateContentRequest; response: TemplateContent }
}

export type GetTemplateContentRequest = {
  templateId: string
}

export type TemplateContent = {
  subject?: string
  html: string
  text?: string
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
  subject?: string
  html?: string
  text?: string
}

/** A rendered mail. */
export type PreviewJson = {
  subject: string
  /** Null: the mail is plain text. */
  html: string | null
  text: string
}

/** What campaigns still need. Internal: for services that refuse to delete it. */
export type Uses = {
  /** Returns a campaign that is not finished and sends to a list or segment, or excludes the list. */
  findUse: { kind: 'unary'; request: FindUseRequest; response: FindUseResponse }
}

/** One of the two. */
export type FindUseRequest = {
  listId?: string
  segmentId?: string
}

export type FindUseResponse = {
  /** Absent: there is none. */
  campaignName?: string
}
