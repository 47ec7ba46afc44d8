// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, PageRequest, PageResponse, Updated } from './types.ts'
/** The sending side of campaigns: content, recipients, pace and state. A mailing has the id of its campaign. Its recipients are messages of kind campaign. Internal: the service that owns campaigns calls it. */
export type Mailings = {
  /** Stores the content and settings of a mailing, new or known; its recipients and state stay as they are. Of one that has begun, only the rate changes. Otherwise fails with the refusals of CheckSender if the sender cannot be used. Ignores a request if a newer revision is stored. */
  putMailing: { kind: 'unary'; request: PutMailingRequest; response: Empty }
  /** Adds recipients. A contact is in a mailing once, however often it is added. */
  queueRecipients: { kind: 'unary'; request: QueueRecipientsRequest; response: QueueRecipientsResponse }
  /** Says that the recipients are complete: the mailing is finished as soon as none of them waits. */
  closeMailing: { kind: 'unary'; request: MailingRequest; response: Mailing }
  /** Starts, pauses, resumes or cancels sending. Pausing and cancelling take effect within two seconds. Fails with mailing.cancelled for any other state once it is cancelled. */
  setMailingState: { kind: 'unary'; request: SetMailingStateRequest; response: Mailing }
  /** Lets the recipients wait again whose mail was not handed over, or perhaps was not. Not those that their server refused. */
  retryFailed: { kind: 'unary'; request: MailingRequest; response: RetryFailedResponse }
  getMailing: { kind: 'unary'; request: MailingRequest; response: Mailing }
  /** Lists the recipients as JSON records {contact, email, status, at, error}. Honours the shared list parameters. */
  listRecipients: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Streams all recipients as CSV. */
  exportRecipients: { kind: 'server_stream'; request: MailingRequest; response: HttpBody }
  /** Counts what happened to the messages, by hour or day. */
  seriesOf: { kind: 'unary'; request: SeriesOfRequest; response: SeriesOfResponse }
  /** Counts the clicks on each link of the messages, the most clicked first: at most 1000 links. */
  linksOf: { kind: 'unary'; request: MailingRequest; response: LinksOfResponse }
  /** Returns the sender that the caller may send with: the given one, or the default one. The errors name the field `sender`. A service may use any, unless it names a user. */
  checkSender: { kind: 'unary'; request: CheckSenderRequest; response: CheckSenderResponse }
  /** Renders a mail and sends it to some addresses as messages of kind test. Its links lead to a page that says so. Fails with contact.blocked for a blocked contact. */
  sendTest: { kind: 'unary'; request: SendTestRequest; response: Empty }
}

export type MailingRequest = {
  id: string
}

export type PutMailingRequest = {
  id: string
  /** Default: the organization's default sender at this time. */
  senderId?: string
  /** Templates in Liquid. */
  subject: string
  preheader?: string
  html?: string
  /** Default: made from html. */
  text?: string
  /** Never more than that in any 60 seconds, spread evenly. Default: as fast as the quotas allow. */
  ratePerMinute?: number
  /** What templates show. */
  campaignName: string
  organizationName: string
  /** What to count. Default: nothing. */
  track?: TrackOptions | null
  /** Numbers the requests of a mailing in the order of the changes, because they may arrive in another one. A request without it is always stored. */
  revision?: number
  /** As in CheckSenderRequest. */
  userId?: string
}

export type QueueRecipientsRequest = {
  mailingId: string
  /** At most 1000. */
  recipients: MailingRecipient[]
}

export type MailingRecipient = {
  contactId: string
  email: string
}

export type QueueRecipientsResponse = {
  /** How many were new. */
  queued: number
}

export type SetMailingStateRequest = {
  id: string
  state: 'sending' | 'paused' | 'cancelled'
}

export type RetryFailedResponse = {
  count: number
}

export type Mailing = {
  id: string
  /** prepared: not started. */
  state: 'prepared' | 'sending' | 'paused' | 'cancelled'
  /** Why it paused by itself. */
  pausedReason?: string
  /** Its recipients are complete, and none of them waits. */
  isFinished: boolean
  counts?: MailingCounts | null
}

/** recipients is the sum of sent, failed, suppressed and waiting. */
export type MailingCounts = {
  recipients: number
  sent: number
  delivered: number
  /** Also counts refusals at the hand-over, which are failed. */
  bounced: number
  complained: number
  opened: number
  clicked: number
  unsubscribed: number
  suppressed?: SuppressedCounts | null
  failed: number
  waiting: number
}

export type SuppressedCounts = {
  blocked: number
  unsubscribed: number
  address: number
}

/** One recipient, as ListRecipients shows it. */
export type CampaignRecipientJson = {
  _id: string
  id: string
  contact: string
  email: string
  status: 'waiting' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'suppressed'
  /** When the status was reached. */
  at: string
  error: string | null
}

/** The public fields of CampaignRecipient. */
export const campaignRecipientFields = {
  'contact': 'objectId',
  'email': 'string',
  'status': 'string',
  'at': 'date',
  'error': 'string',
} as const

export type SeriesOfRequest = {
  id: string
  interval: 'hour' | 'day'
}

export type SeriesOfResponse = {
  /** Oldest first, without intervals in which nothing happened. */
  points: MailingPoint[]
}

export type MailingPoint = {
  /** Start of the interval in UTC. */
  at: string
  sent: number
  delivered: number
  opened: number
  clicked: number
  /** By the link of the mail. */
  unsubscribed: number
}

export type LinksOfResponse = {
  links: MailingLink[]
}

export type MailingLink = {
  url: string
  /** How often it was opened, those of programs left out. */
  clicks: number
  /** How many recipients opened it. */
  contacts: number
}

export type CheckSenderRequest = {
  senderId?: string
  /** The user for whom a service asks: it must be a sender that this user may use. Ignored for other callers. */
  userId?: string
}

export type CheckSenderResponse = {
  id: string
  name: string
  email: string
}

export type SendTestRequest = {
  senderId?: string
  to: string[]
  /** Templates in Liquid. */
  subject: string
  preheader?: string
  html?: string
  text?: string
  /** What templates show, besides the links. */
  variables: Record<string, unknown>
}

/** Single messages: mail of the organization to one address, and what became of it. They are kept for 30 days after their end. Mail of the installation, such as codes and invitations, is not among them. */
export type Messages = {
  /** Accepts a message to one address and returns it. Use it to send receipts, notices and other mail that one person waits for. It is sent in the background, or at `sendAt`, and retried while the mail server is not available; see the status of the message. A contact that is blocked when the mail server would get the message, and an address that is suppressed, get nothing: the message ends as suppressed. Who may send with a sender: its owner, the users it is shared with, and their API tokens; everybody with this permission may use the default sender. Above the quotas of the installation, messages wait. */
  sendMessage: { kind: 'unary'; request: SendMessageRequest; response: HttpBody }
  /** Lists the messages of the organization, newest first. Use it to see what was sent and what failed. Recipients of a campaign are messages as soon as it is their turn. Honours the shared list parameters. */
  listMessages: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Returns a message. Use it to follow one message: `events` says what happened to it and when. */
  getMessage: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Cancels a scheduled message and returns it. Use it before its `sendAt`; in any other status the answer is 409. */
  cancelMessage: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

export type ContactReference = {
  contactId: string
}

export type SendMessageRequest = {
  /** An address, or {"contactId": "…"} for the address that the contact has when the message is sent. */
  to: unknown
  /** The sender. Default: the organization's default sender. */
  from?: string
  /** Required without a template that has one. It is used instead of that of the template. */
  subject?: string
  /** At least one of html and text, or a template. Without text, the mail has the html only, or with data or a template a text made from it. */
  html?: string
  text?: string
  /** Default: the reply address of the sender. */
  replyTo?: string
  /** Headers to add, at most 10. Their names begin with X-. */
  headers?: Record<string, string>
  /** When to send it, at most 30 days ahead. Default: now. */
  sendAt?: string
  /** Values for the content, which is Liquid if this or a template is given: `data.<name>`, `contact.<email, name, tags, attributes>`, `sender.<name, email>`, `organization.name`, and `unsubscribe_url` if the address is that of a contact. Values are escaped in html. At most 64 KiB. */
  data?: Record<string, unknown>
  /** What to count. Default: `defaultTracking` of the settings. It needs html: links are replaced by counting ones, and an image counts opens. */
  track?: TrackOptions | null
  /** A template, in place of html and text, as it is now. */
  template?: string
}

/** Message as JSON. */
export type MessageJson = {
  _id: string
  id: string
  to: string
  /** The contact it was addressed to, by id or as a recipient of a campaign. */
  contact: string | null
  subject: string
  sender: string | null
  /** Address that it is sent from. */
  from: string
  /** test: the test of a sender. */
  kind: 'transactional' | 'campaign' | 'test'
  campaign: string | null
  /** It only moves on. queued: on its way to the mail server. sent: the server accepted it. bounced: the receiving server refused it. failed: it could not be handed over. suppressed: the contact is blocked, or the address is suppressed. */
  status: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'cancelled' | 'suppressed'
  sendAt: string | null
  sentAt: string | null
  /** Why it was not delivered. */
  error: string | null
  /** What happened to it, oldest first. */
  events: MessageEventJson[]
  createdAt: string
  updatedAt: string
}

/** The public fields of Message. */
export const messageFields = {
  'to': 'string',
  'contact': 'objectId',
  'subject': 'string',
  'sender': 'objectId',
  'from': 'string',
  'kind': 'string',
  'campaign': 'objectId',
  'status': 'string',
  'sendAt': 'date',
  'sentAt': 'date',
  'error': 'string',
  'events': 'object[]',
} as const

/** MessageEvent as JSON. */
export type MessageEventJson = {
  type: 'scheduled' | 'queued' | 'sent' | 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'failed' | 'cancelled' | 'suppressed'
  at: string
  /** The reply of the server, or why it ended. */
  detail: string | null
}

/** What a message counts of its recipients. Programs that only look whether a mail is safe are not counted. */
export type TrackOptions = {
  opens: boolean
  clicks: boolean
}

/** What a message counts of its recipients. Programs that only look whether a mail is safe are not counted. */
export type TrackOptionsJson = {
  opens: boolean
  clicks: boolean
}

/** Sending domains, with the DNS records to publish and their status. */
export type Domains = {
  /** Lists sending domains, newest first. Use it to see which domains can send, and which need attention. Honours the shared list parameters. */
  listDomains: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Returns a domain with its records. Use it to show the records to publish. */
  getDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Adds a domain and returns the DNS records to publish. Use it before any sender of the domain is created. Requires a configured mail provider: 400 without one, 503 if it does not answer. 409 beyond the limit of domains per organization. */
  createDomain: { kind: 'unary'; request: CreateDomainRequest; response: HttpBody }
  /** Verifies the domain: looks up its sending records at the authoritative DNS servers. Use it once the records are published. If all are correct, returns the verified domain, and a rotated DKIM key becomes active. Otherwise 400 with each failing record and the reason; a verified domain stays verified. 429 if the domain was checked or verified in the last ten seconds. */
  verifyDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Looks up the records in DNS and returns the domain with a diagnosis of each. Use it to find out why a record is not accepted. Does not change its status. 429 as for verify. */
  checkDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Creates a new DKIM key. Use it regularly, or if the key may have leaked. Until its record is verified, the sending records list both keys and the old one signs. A domain that was never verified has only the new key. 409 while an earlier new key is not verified yet. */
  rotateDkim: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Deletes a domain. Use it when no mail is sent from the domain any more. 409 while a sender uses it. */
  deleteDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Domain as JSON. */
export type DomainJson = {
  _id: string
  id: string
  /** The domain in lower-case ASCII form. */
  domain: string
  /** degraded: verified earlier, but its records have failed repeated checks since. Sending continues. */
  status: 'pending' | 'verified' | 'degraded'
  /** Whether mail may be sent from it. */
  verified: boolean
  verifiedAt: string | null
  lastCheckedAt: string | null
  /** Records to publish, all of them required. */
  sendingRecords: DnsRecordJson[]
  /** Records to publish only if the domain should receive mail. */
  receivingRecords: DnsRecordJson[]
  /** Recommended records, not required: DMARC, tracking. */
  recommendedRecords: DnsRecordJson[]
  provider: 'self-hosted' | 'mailgun'
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Domain. */
export const domainFields = {
  'domain': 'string',
  'status': 'string',
  'verified': 'boolean',
  'verifiedAt': 'date',
  'lastCheckedAt': 'date',
  'sendingRecords': 'object[]',
  'receivingRecords': 'object[]',
  'recommendedRecords': 'object[]',
  'provider': 'string',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

/** DnsRecord as JSON. */
export type DnsRecordJson = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  /** For an MX record. */
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
  required: boolean
  /** Result of the last check: missing (no record), mismatch (another value), conflict (several records where only one is allowed), error (DNS did not answer, so the record's state is unknown). */
  status: 'unknown' | 'ok' | 'missing' | 'mismatch' | 'conflict' | 'error'
  /** Values found in DNS. */
  found: string[]
  /** What is wrong and the likely cause, as text for people. May hold a remark for a correct record. */
  reason: string | null
  checkedAt: string | null
}

export type CreateDomainRequest = {
  /** A registrable domain or a subdomain of one; a subdomain is the usual choice. Surrounding white space, case and a final dot are ignored. Non-ASCII letters are converted to their IDNA form. */
  domain: string
}

/** Senders: the addresses that mail is sent from, their owners, and the users they are shared with. */
export type Senders = {
  /** Lists the senders that the caller owns or that are shared with the caller. Use it to choose who a mail comes from. An owner of the organization also sees those whose owner was deleted (owner null). Honours the shared list parameters. */
  listSenders: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a sender; the caller becomes its owner and creator. Use it for each address that mail is sent from. The email's domain must be verified, unless delivery is oauth: such a sender is pending until its account is connected. delivery sets how its mail is sent: provider: by the mail provider of its domain (the hosted provider's API, or this installation with the domain's own DKIM key); hosted: by the mail service that this installation uses (SMTP_URL); smtp: by its own mail server, which must be on the public internet, at port 25, 465, 587 or 2525; oauth: by a Google or Microsoft account, connected by consent, without a password. */
  createSender: { kind: 'unary'; request: CreateSenderRequest; response: HttpBody }
  /** Returns a sender. Use it to see whether one sender is ready. Allowed for its owner and the users it is shared with, and for an owner of the organization if the sender's owner was deleted. */
  getSender: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a sender. Use it to change the name that people see, or the mail server. Allowed for its owner only. smtp is merged into the stored settings; 409 if they were changed concurrently. */
  updateSender: { kind: 'unary'; request: UpdateSenderRequest; response: Updated }
  /** Deletes a sender. Use it for an address that is no longer sent from. Allowed for its owner only. */
  deleteSender: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Makes the sender the organization's default. Use it for the address that most mail comes from. Allowed for its owner only. */
  setDefaultSender: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Shares the sender with more users, who can then see it and send from it. Use it to let colleagues send from this address. Allowed for its creator only, even after the owner has changed; for its owner once the creator's account is deleted. */
  shareSender: { kind: 'unary'; request: ShareSenderRequest; response: Updated }
  /** Stops sharing the sender with users. Use it when a colleague should no longer send from this address. Allowed for its creator only, or its owner once the creator's account is deleted. */
  unshareSender: { kind: 'unary'; request: ShareSenderRequest; response: Updated }
  /** Lists the users that the sender is shared with. Use it to review who may send from this address. Allowed for its creator only, or its owner once the creator's account is deleted. */
  listSharedUsers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Transfers the sender to another user. Use it when another person becomes responsible for the address. Allowed for its owner, or for an owner of the organization if the sender's owner was deleted. The creator does not change. */
  transferSender: { kind: 'unary'; request: TransferSenderRequest; response: Updated }
  /** Sends a test mail immediately. Use it after each change of a sender, before mail depends on it. Allowed for the sender's owner only. The message is the server's reply, also if it refused (400). If the address bounced before, success allows sending to it again. If the address belongs to a contact, the mail appears in the contact's emails; a blocked contact gets none. */
  testSender: { kind: 'unary'; request: TestSenderRequest; response: Updated }
  /** Connects to a mail server and signs in, without sending a mail. Use it before a sender of delivery smtp is saved, to see whether its settings are right. The server must be on the public internet, at port 25, 465, 587 or 2525. If it cannot be reached, or refuses, the message is its reply (400). */
  testSmtp: { kind: 'unary'; request: TestSmtpRequest; response: Updated }
  /** Starts connecting the account of an oauth sender and returns the URL to send the user to. Use it when a person presses Connect. Allowed for its owner only, signed in, and not impersonated. The connection must be finished within ten minutes, once, in the same session. */
  startSenderOauth: { kind: 'unary'; request: StartSenderOauthRequest; response: StartSenderOauthResponse }
  /** Receives the user from the account's provider. Use it as the redirect URI of your OAuth client; programs do not call it. Changes nothing: redirects the browser to the console, or to the page /connect-account of this server if no console is configured, with provider, code, state and iss (or error and error_description). That page finishes the connection. */
  returnSenderOauth: { kind: 'unary'; request: ReturnSenderOauthRequest; response: ReturnSenderOauthResponse }
  /** Finishes connecting the account, in the session that started it: 403 in another one. Use it on the page that the callback leads to. 400 if the request has expired or was used, if the provider refuses, or if the account's address differs from the sender's and the sender's domain is not verified. */
  finishSenderOauth: { kind: 'unary'; request: FinishSenderOauthRequest; response: Updated }
}

/** Sender as JSON. */
export type SenderJson = {
  _id: string
  id: string
  name: string
  email: string
  replyTo: string | null
  /** Domain of the email, in lower-case ASCII form. */
  domain: string
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  /** Mail server settings, without the password. */
  smtp: SenderSmtpJson | null
  /** The connected account, without its tokens. */
  oauth: SenderOauthJson | null
  /** Whether it is the default sender. An organization has at most one. */
  isDefault: boolean
  /** Id of the owner; null if the account was deleted. */
  owner: string | null
  creator: string
  sharedWith: string[]
  active: boolean
  createdAt: string
  updatedAt: string
}

/** The public fields of Sender. */
export const senderFields = {
  'name': 'string',
  'email': 'string',
  'replyTo': 'string',
  'domain': 'string',
  'delivery': 'string',
  'smtp': 'object',
  'smtp.host': 'string',
  'smtp.port': 'number',
  'smtp.secure': 'boolean',
  'smtp.username': 'string',
  'oauth': 'object',
  'oauth.provider': 'string',
  'oauth.email': 'string',
  'oauth.connectedAt': 'date',
  'oauth.status': 'string',
  'isDefault': 'boolean',
  'owner': 'objectId',
  'creator': 'objectId',
  'sharedWith': 'objectId[]',
  'active': 'boolean',
} as const

/** SenderSmtp as JSON. */
export type SenderSmtpJson = {
  host: string
  port: number
  /** true: TLS from the first byte. false: STARTTLS. */
  secure: boolean
  username: string | null
}

/** SenderOauth as JSON. */
export type SenderOauthJson = {
  provider: 'google' | 'microsoft'
  /** Email address of the connected account. */
  email: string | null
  connectedAt: string | null
  /** expired: the provider no longer accepts mail from this connection. Connect the account again. */
  status: 'pending' | 'connected' | 'expired'
}

/** SharedUser as JSON. */
export type SharedUserJson = {
  _id: string
  id: string
  name: string
  email: string
}

/** The public fields of SharedUser. */
export const sharedUserFields = {
  'name': 'string',
  'email': 'string',
} as const

export type Smtp = {
  host: string
  /** 25, 465, 587 or 2525. */
  port: number
  /** TLS from the first byte. Default: true for port 465, otherwise false. */
  secure?: boolean
  username?: string
  /** Write-only. */
  password?: string
}

export type SmtpChange = {
  host?: string
  port?: number
  secure?: boolean
  /** null removes the username and password. */
  username?: string
  password?: string
}

export type OauthChoice = {
  provider: 'google' | 'microsoft'
}

export type CreateSenderRequest = {
  name: string
  email: string
  replyTo?: string
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  smtp?: Smtp | null
  oauth?: OauthChoice | null
}

export type UpdateSenderRequest = {
  id: string
  name?: string
  replyTo?: string
  active?: boolean
  smtp?: SmtpChange | null
}

export type ShareSenderRequest = {
  id: string
  userIds: string[]
}

export type TransferSenderRequest = {
  id: string
  userId: string
}

export type TestSenderRequest = {
  id: string
  to: string
}

export type TestSmtpRequest = {
  smtp?: Smtp | null
}

export type StartSenderOauthRequest = {
  provider: 'google' | 'microsoft'
  /** The sender to connect. */
  sender: string
}

export type StartSenderOauthResponse = {
  url: string
}

export type ReturnSenderOauthRequest = {
  provider: 'google' | 'microsoft'
  state: string
  code?: string
  /** Issuer, if the provider sent it. */
  iss?: string
  /** Error code of the provider, sent instead of a code. */
  error?: string
  errorDescription?: string
}

export type ReturnSenderOauthResponse = {
  /** Target of the redirect, also in the Location header. */
  url: string
}

export type FinishSenderOauthRequest = {
  provider: 'google' | 'microsoft'
  /** The code that the provider returned. */
  code: string
  state: string
  /** Required if the provider sent it. */
  iss?: string
}

/** Addresses that get no mail of the organization: they bounced, their owners complained, or somebody added them. Account mail (codes, links, invitations) is tried nevertheless. */
export type Suppressions = {
  /** Lists the suppressed addresses, newest first. Use it to see who gets no mail, and why. Honours the shared list parameters. */
  listSuppressions: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Suppresses an address. Use it for people who asked in another way to get no mail at all, contacts or not. Addresses are compared regardless of case. */
  createSuppression: { kind: 'unary'; request: CreateSuppressionRequest; response: HttpBody }
  /** Returns a suppressed address. Use it to see what the receiving server replied. */
  getSuppression: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Lifts a suppression, and returns it. Use it when the reason is gone: the next mail to the address is tried. The emailStatus of a contact with the address becomes unknown. */
  deleteSuppression: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** Suppression as JSON. */
export type SuppressionJson = {
  _id: string
  id: string
  /** [erased] once its owner was erased: a keyed hash recognizes the address. */
  email: string
  /** hard_bounce: a receiving server rejected the address. complaint: its owner reported mail as spam. manual: added by somebody. */
  kind: 'hard_bounce' | 'complaint' | 'manual'
  /** The reply of the receiving server, or the reason that was given. */
  reason: string
  /** The message that bounced, or that was complained of. */
  message: string | null
  /** The first and the last time, and how often. */
  firstAt: string
  lastAt: string
  count: number
  createdAt: string
  updatedAt: string
}

/** The public fields of Suppression. */
export const suppressionFields = {
  'email': 'string',
  'kind': 'string',
  'reason': 'string',
  'message': 'string',
  'firstAt': 'date',
  'lastAt': 'date',
  'count': 'number',
} as const

export type CreateSuppressionRequest = {
  email: string
  reason?: string
}

/** Sends mail for other services: codes, invitations, password links. Internal. */
export type Mail = {
  /** Accepts a mail for sending and returns when it is stored. It is sent in the background and retried until it is sent or permanently refused. Mail of the installation beyond its quotas fails with quota.too_many_pending: per organization and hour for mail that its people cause, per address and day over all organizations. */
  sendMail: { kind: 'unary'; request: SendMailRequest; response: SendMailResponse }
  /** Returns whether the organization has a default sender that can send now. */
  checkDefaultSender: { kind: 'unary'; request: Empty; response: CheckDefaultSenderResponse }
}

export type CheckDefaultSenderResponse = {
  usable: boolean
}

export type SendMailRequest = {
  /** Idempotency key: the same key is accepted once. */
  key: string
  to: string
  subject: string
  text: string
  html?: string
  /** The contact or user that receives it, for their history. */
  contactId?: string
  userId?: string
  /** The sender to send from. Mail without one is sent by the installation (MAIL_FROM through SMTP_URL): codes and password links must not pass through a mail server that a member of the organization chose. */
  senderId?: string
  /** Sends from the organization's default sender, if it has one, instead of sender_id. */
  fromDefault?: boolean
  /** Purpose of mail of the installation. invitation and new_account are caused by a person of the organization, who chose the recipient; sign_in_code and password_reset by anyone, without a credential; email_change and email_changed by the person whose address changes; password_changed and second_factor_changed by a change of the recipient's password or second factor. Quotas count sign_in_code and password_reset separately, email_changed, password_changed and second_factor_changed per organization, and the others together. */
  purpose?: string
  /** Of a mail by a sender: it asks its recipient to confirm an address that was entered in a form. It goes out although the address is suppressed for a complaint: only the confirmation lifts that. */
  confirms?: boolean
  /** When the code or link in the mail expires. After that the mail is not sent, and its text is deleted. */
  expiresAt?: string
}

export type SendMailResponse = {
  id: string
}

/** Pages behind the links of mails, for anyone who has the link. Their tokens are signed and do not expire. */
export type Pages = {
  /** Shows what the recipient of a mail can choose: no campaigns at all, or which lists to stay on. Changes nothing, since programs that scan mails open every link. */
  showPreferences: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Does what the recipient has chosen: with one click in the mail program (RFC 8058), or by the form of the page. */
  choosePreferences: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** The image that counts opens of a mail. Answers it although nothing can be counted. */
  countOpen: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Counts a click and redirects to the URL of the link, which the token holds. Redirects although nothing can be counted. */
  followLink: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Shows the mail of a campaign in the browser, as its contact would get it now. */
  showWebVersion: { kind: 'unary'; request: PageRequest; response: PageResponse }
  /** Takes what Mailgun reports of messages, by its signed webhook. Refuses what is forged, older than 15 minutes or repeated. */
  receiveReport: { kind: 'unary'; request: PageRequest; response: PageResponse }
}

/** The organization's mail provider. */
export type Providers = {
  /** Returns the configured provider, or the installation's default. Use it to see by whom mail is sent. {"kind":null,"configured":false} if there is none. */
  getProvider: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Sets the provider. Use it once, before domains are added. The API key is write-only and encrypted at rest. It is tested before it is stored: 400 if the provider refuses it, 503 if it does not answer. Omit it to keep the stored key. self-hosted accepts none of the other fields. */
  setProvider: { kind: 'unary'; request: SetProviderRequest; response: Updated }
  /** Removes the provider and returns it. Use it to return to the installation's default. Until another one is set, no domain can be added or verified. */
  deleteProvider: { kind: 'unary'; request: Empty; response: HttpBody }
}

/** Provider as JSON. */
export type ProviderJson = {
  kind: 'self-hosted' | 'mailgun' | null
  configured: boolean
  region?: string
  /** The account's sending domain, if one was given. */
  domain?: string
  /** For mailgun: the URL to enter there as a webhook, so that deliveries, bounces and complaints are known. It needs the webhookSigningKey. */
  webhookUrl?: string
}

export type SetProviderRequest = {
  kind: 'self-hosted' | 'mailgun'
  /** For mailgun only. */
  apiKey?: string
  /** us (the default) or eu. */
  region?: 'us' | 'eu'
  /** The account's sending domain, for display only. */
  domain?: string
  /** For mailgun only: the key that signs its webhooks. Write-only and encrypted at rest. Omit it to keep the stored key. */
  webhookSigningKey?: string
}
