// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { Actor, ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, Updated } from './types.ts'
/** Sending domains: what has to be published in DNS, and whether it is. */
export type Domains = {
  /** Lists sending domains, newest first. Honours the shared list parameters. */
  listDomains: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** One domain with its records. */
  getDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Adds a domain and answers the DNS records to publish. Needs a configured mail provider: 400 without one, 503 where it does not answer. 409 over the quota of domains per organization. */
  createDomain: { kind: 'unary'; request: CreateDomainRequest; response: HttpBody }
  /** Looks the sending records up in DNS, at the servers of their own zones. All of them right: 200 and the domain, verified, and a new DKIM key signs from now on. Otherwise 400, naming each failing record and why; a domain that is verified stays so. 429 where the domain was checked or verified in the last ten seconds. */
  verifyDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Looks the records up and answers the domain with a diagnosis of each; its status stays. 429 as for verify. */
  checkDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Makes a new DKIM key. Until its record verifies both keys are among the sending records and the old one signs; a domain that was never verified has only the new one. 409 while an earlier new key still waits for its record. */
  rotateDkim: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Deletes a domain: 409 while a sender uses it. */
  deleteDomain: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

export type Domain = {
  /** Lower case, in its ASCII form. */
  domain: string
  /** degraded: verified once, but its records have been wrong for a while; sending goes on. */
  status: 'pending' | 'verified' | 'degraded'
  /** Whether it may send. */
  verified: boolean
  verifiedAt: string
  lastCheckedAt: string
  /** All of them must be published exactly as they are. */
  sendingRecords: DnsRecord[]
  /** Needed only where the domain should receive mail. */
  receivingRecords: DnsRecord[]
  /** Advised, not required: DMARC, tracking. */
  recommendedRecords: DnsRecord[]
  provider: 'self-hosted' | 'mailgun'
  createdBy?: Actor | null
}

/** Domain as JSON. */
export type DomainJson = {
  _id: string
  id: string
  /** Lower case, in its ASCII form. */
  domain: string
  /** degraded: verified once, but its records have been wrong for a while; sending goes on. */
  status: 'pending' | 'verified' | 'degraded'
  /** Whether it may send. */
  verified: boolean
  verifiedAt: string | null
  lastCheckedAt: string | null
  /** All of them must be published exactly as they are. */
  sendingRecords: DnsRecordJson[]
  /** Needed only where the domain should receive mail. */
  receivingRecords: DnsRecordJson[]
  /** Advised, not required: DMARC, tracking. */
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

export type DnsRecord = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  /** Of an MX record. */
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
  required: boolean
  /** As of the last check: missing (nothing there), mismatch (something else there), conflict (more than one where only one may be), error (DNS gave no answer, which says nothing about the record). */
  status: 'unknown' | 'ok' | 'missing' | 'mismatch' | 'conflict' | 'error'
  /** What DNS answered. */
  found: string[]
  /** What is wrong and the likely cause, for a person; of a record that is right, what else there is to know. */
  reason: string
  checkedAt: string
}

/** DnsRecord as JSON. */
export type DnsRecordJson = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  /** Of an MX record. */
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
  required: boolean
  /** As of the last check: missing (nothing there), mismatch (something else there), conflict (more than one where only one may be), error (DNS gave no answer, which says nothing about the record). */
  status: 'unknown' | 'ok' | 'missing' | 'mismatch' | 'conflict' | 'error'
  /** What DNS answered. */
  found: string[]
  /** What is wrong and the likely cause, for a person; of a record that is right, what else there is to know. */
  reason: string | null
  checkedAt: string | null
}

export type CreateDomainRequest = {
  /** A domain that can be registered or one below it; a subdomain is the usual choice. White space around it, upper case and a final dot do not matter; letters beyond ASCII are taken in their IDNA form. */
  domain: string
}

/** Mail that other services have sent: codes, invitations, password links. Internal. */
export type Mail = {
  /** Accepts a mail for sending; it goes out in the background, again and again until it is sent or refused for good. Answers once the mail is stored. Mail of the installation has quotas, over which it is refused (too_many_pending): per organization and hour for what its people cause, per address and day over all organizations. */
  sendMail: { kind: 'unary'; request: SendMailRequest; response: SendMailResponse }
}

export type SendMailRequest = {
  /** Makes the call repeatable: the same key is accepted once. */
  key: string
  to: string
  subject: string
  text: string
  html?: string
  /** The contact or user it goes to, for their history. */
  contactId?: string
  userId?: string
  /** The sender it goes out from. Mail without one is the installation's own (MAIL_FROM through SMTP_URL): a code or a password link must not pass through a mail server that just anybody of the organization has chosen. */
  senderId?: string
  /** Names the organization's default sender, where it has one, in place of sender_id. */
  fromDefault?: boolean
  /** What mail of the installation is for: invitation and new_account are caused by somebody of the organization, who chose whom they go to; sign_in_code and password_reset by anyone, without a credential. Quotas count the first two together and each of the others for itself. */
  purpose?: string
  /** When the code or link in it stops working: from then on it is not sent, and its text is dropped. */
  expiresAt?: string
}

export type SendMailResponse = {
  id: string
}

/** The organization's mail provider. */
export type Providers = {
  /** The provider as configured, or the installation's default; {"kind":null,"configured":false} where there is none. */
  getProvider: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Chooses the provider. The API key is write-only and encrypted at rest; it is tried before it is kept (400 where the provider refuses it, 503 where it does not answer), and may be left out where one is known. self-hosted takes none of the other fields. */
  setProvider: { kind: 'unary'; request: SetProviderRequest; response: Updated }
  /** Removes the provider and answers what it was. Until another one is chosen no domain can be added or verified. */
  deleteProvider: { kind: 'unary'; request: Empty; response: HttpBody }
}

export type Provider = {
  kind: 'self-hosted' | 'mailgun'
  configured: boolean
  region?: string
  /** The account's own sending domain, where it was given. */
  domain?: string
}

/** Provider as JSON. */
export type ProviderJson = {
  kind: 'self-hosted' | 'mailgun' | null
  configured: boolean
  region?: string
  /** The account's own sending domain, where it was given. */
  domain?: string
}

export type SetProviderRequest = {
  kind: 'self-hosted' | 'mailgun'
  /** Of mailgun. */
  apiKey?: string
  /** us (the default) or eu. */
  region?: 'us' | 'eu'
  /** The account's own sending domain: kept to be shown. */
  domain?: string
}

/** Senders: the addresses that mail goes out from, who owns them and who may use them. */
export type Senders = {
  /** Lists the senders that the caller owns or that are shared with the caller; for an owner of the organization also those whose owner is gone (owner null). Honours the shared list parameters. */
  listSenders: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates a sender; the caller is its owner and creator. The email's domain must be verified, unless delivery is oauth: such a sender is pending until its account is connected. delivery says how its mail leaves: provider: by the mail provider of its domain (the hosted provider's API, or this installation with the domain's own DKIM key); hosted: by the hosted mail service that this installation hands its mail to (SMTP_URL); smtp: by a mail server of its own, which must be in the public internet, at port 25, 465, 587 or 2525; oauth: by a Google or Microsoft account, connected by consent, without a password. */
  createSender: { kind: 'unary'; request: CreateSenderRequest; response: HttpBody }
  /** One sender, for its owner and those it is shared with, and for an owner of the organization where the sender's is gone. */
  getSender: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates a sender: its owner only. smtp is merged into what is stored; 409 where it was changed at the same time. */
  updateSender: { kind: 'unary'; request: UpdateSenderRequest; response: Updated }
  /** Deletes a sender: its owner only. */
  deleteSender: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Makes the sender the organization's default: its owner only. */
  setDefaultSender: { kind: 'unary'; request: IdRequest; response: Updated }
  /** Lets more users see it and send from it: its creator only, also after the owner has changed; its owner once the creator's account is gone. */
  shareSender: { kind: 'unary'; request: ShareSenderRequest; response: Updated }
  /** Takes users off it: its creator only, or its owner once the creator's account is gone. */
  unshareSender: { kind: 'unary'; request: ShareSenderRequest; response: Updated }
  /** The users it is shared with: its creator only, or its owner once the creator's account is gone. */
  listSharedUsers: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Gives the sender to another user: its owner, or an owner of the organization where the sender's is gone. Its creator stays. */
  transferSender: { kind: 'unary'; request: TransferSenderRequest; response: Updated }
  /** Sends a test mail at once: its owner only. The message is the server's reply, also where it refused (400). A mail that goes through ends the refusal to write to an address that bounced before. Where the address is a contact's, the mail shows among the contact's emails. */
  testSender: { kind: 'unary'; request: TestSenderRequest; response: Updated }
  /** Begins to connect the account of an oauth sender: the address to send the person to. Its owner only, signed in, and not an impersonation. What comes back counts for ten minutes, once, in this session. */
  startSenderOauth: { kind: 'unary'; request: StartSenderOauthRequest; response: StartSenderOauthResponse }
  /** Where the account's provider sends the person back to. Changes nothing: sends the browser on to the console, or to the page /connect-account of this server where no console is configured, with provider, code, state and iss (or error and error_description). That page finishes the connection. */
  returnSenderOauth: { kind: 'unary'; request: ReturnSenderOauthRequest; response: ReturnSenderOauthResponse }
  /** Finishes connecting the account, in the session that began it: 403 in another one. 400 where the request has expired or was used, where the provider refuses, or where the account is of another address than the sender and the sender's domain is not verified. */
  finishSenderOauth: { kind: 'unary'; request: FinishSenderOauthRequest; response: Updated }
}

export type Sender = {
  name: string
  email: string
  replyTo: string
  /** Of the email; lower case, in its ASCII form. */
  domain: string
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  /** Without its password. */
  smtp?: SenderSmtp | null
  /** Without its tokens. */
  oauth?: SenderOauth | null
  /** At most one sender of an organization is. */
  isDefault: boolean
  /** Null where the account is gone. */
  owner: string
  creator: string
  sharedWith: string[]
  active: boolean
}

/** Sender as JSON. */
export type SenderJson = {
  _id: string
  id: string
  name: string
  email: string
  replyTo: string | null
  /** Of the email; lower case, in its ASCII form. */
  domain: string
  delivery: 'provider' | 'hosted' | 'smtp' | 'oauth'
  /** Without its password. */
  smtp: SenderSmtpJson | null
  /** Without its tokens. */
  oauth: SenderOauthJson | null
  /** At most one sender of an organization is. */
  isDefault: boolean
  /** Null where the account is gone. */
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

export type SenderSmtp = {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS. */
  secure: boolean
  username: string
}

/** SenderSmtp as JSON. */
export type SenderSmtpJson = {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS. */
  secure: boolean
  username: string | null
}

export type SenderOauth = {
  provider: 'google' | 'microsoft'
  /** The account that was connected. */
  email: string
  connectedAt: string
  /** expired: the provider no longer lets us send; the account has to be connected again. */
  status: 'pending' | 'connected' | 'expired'
}

/** SenderOauth as JSON. */
export type SenderOauthJson = {
  provider: 'google' | 'microsoft'
  /** The account that was connected. */
  email: string | null
  connectedAt: string | null
  /** expired: the provider no longer lets us send; the account has to be connected again. */
  status: 'pending' | 'connected' | 'expired'
}

export type SharedUser = {
  name: string
  email: string
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
  /** TLS from the first byte; true at port 465 where it is not given. */
  secure?: boolean
  username?: string
  /** Write-only. */
  password?: string
}

export type SmtpChange = {
  host?: string
  port?: number
  secure?: boolean
  /** null: no sign-in from now on. */
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
  /** Who answered, where the provider says so. */
  iss?: string
  /** Why there is no code. */
  error?: string
  errorDescription?: string
}

export type ReturnSenderOauthResponse = {
  /** Where the browser goes: also in the Location header. */
  url: string
}

export type FinishSenderOauthRequest = {
  provider: 'google' | 'microsoft'
  /** As the provider sent them back. */
  code: string
  state: string
  /** Required where the provider sent it. */
  iss?: string
}
