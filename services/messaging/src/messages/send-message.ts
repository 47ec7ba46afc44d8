import { AppError, emailOf, type HttpBody, isObjectId, json } from '@rollcall/contract'
import type { CheckedRecipient } from '@rollcall/protos/gen/audience-v1.ts'
import type { SendMessageRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import { addEvents, requireRoom } from '@rollcall/store'
import { render, TemplateError } from '@rollcall/templates'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { domainOf, type Sender } from '../senders/sender.model.ts'
import { usableSender } from '../senders/sender-use.ts'
import type { Track } from '../tracking/track-html.ts'
import { publicMessage } from './public-message.ts'

const MAX_AHEAD_MS = 30 * 24 * 3_600_000
const MAX_DATA_CHARACTERS = 65_536
const MAX_HEADERS = 10
const MAX_HEADER_LENGTH = 998
const HEADER_NAME = /^x-[a-z0-9-]{1,60}$/i
/** Printable characters: no line breaks, which would begin another header. */
const HEADER_VALUE = /^[^\p{Cc}\u2028\u2029]*$/u

/** Accepts a message: checks everything that can be checked now, stores it, and leaves the rest to the job. */
export async function sendMessage(context: Context, request: SendMessageRequest, call: Call): Promise<HttpBody> {
  const { caller } = call
  const recipient = readRecipient(request.to)
  requireContent(request)
  const headers = readHeaders(request.headers)
  const sendAt = readSendAt(request.sendAt)
  const { to, contact, known, variables } = await resolveRecipient(context, recipient, caller)
  const sender = await usableSender(context, request.from, caller, 'from')
  const organization = await context.requireMailReach(caller.organizationId, to)
  const _id = new Types.ObjectId()
  const unsubscribeUrl = known
    ? context.links.unsubscribeUrl({ _id, organization: sender.organization, contact: known })
    : undefined
  const shown = { contact: variables, organization: { name: organization.name }, sender, unsubscribeUrl }
  const content = await contentOf(context, request, shown, caller)
  const track = request.track ?? organization.defaultTracking
  const mail = await store(context, draftOf(_id, content, { to, contact, headers, sendAt, sender, track }), call)
  context.mailJob.wake()
  return json(publicMessage(mail))
}

/** Requires a template, or html or text with a subject. @throws {AppError} request.missing_field, request.extra_field */
function requireContent({ template, subject, html, text }: SendMessageRequest): void {
  const hasOwn = html !== undefined || text !== undefined
  if (template !== undefined && hasOwn) throw new AppError('request.extra_field', { path: 'template' })
  if (template === undefined && subject === undefined) throw new AppError('request.missing_field', { path: 'subject' })
  if (template === undefined && !hasOwn) throw new AppError('request.missing_field', { path: 'html' })
}

type Recipient = { email: string } | { contactId: string }

/** Reads an address, or `{contactId}`. @throws {AppError} request.invalid_field */
function readRecipient(to: unknown): Recipient {
  if (typeof to === 'string') {
    const email = emailOf(to)
    if (email) return { email: email.address }
  }
  if (typeof to === 'object' && to !== null && Object.keys(to).join() === 'contactId') {
    const { contactId } = to as { contactId: unknown }
    if (typeof contactId === 'string' && isObjectId(contactId)) return { contactId }
    throw new AppError('request.invalid_field', { path: 'to.contactId', reason: 'must be an id' })
  }
  throw new AppError('request.invalid_field', { path: 'to', reason: 'must be an email address, or {"contactId": id}' })
}

/** @throws {AppError} request.invalid_field */
function readHeaders(headers: Record<string, string> | undefined): Record<string, string> | null {
  const entries = Object.entries(headers ?? {})
  if (entries.length === 0) return null
  if (entries.length > MAX_HEADERS)
    throw new AppError('request.invalid_field', { path: 'headers', reason: `at most ${MAX_HEADERS} headers` })
  for (const [name, value] of entries) {
    const path = `headers.${name}`
    if (!HEADER_NAME.test(name))
      throw new AppError('request.invalid_field', { path, reason: 'the name must begin with X-' })
    if (value.length > MAX_HEADER_LENGTH || !HEADER_VALUE.test(value))
      throw new AppError('request.invalid_field', {
        path,
        reason: `must be one line of at most ${MAX_HEADER_LENGTH} characters`,
      })
  }
  return Object.fromEntries(entries)
}

/** @throws {AppError} request.invalid_field */
function readSendAt(text: string | undefined): Date | null {
  if (text === undefined) return null
  const at = new Date(text)
  const invalid = (reason: string) => new AppError('request.invalid_field', { path: 'sendAt', reason })
  if (at.getTime() <= Date.now()) throw invalid('must be in the future')
  if (at.getTime() > Date.now() + MAX_AHEAD_MS) throw invalid('at most 30 days ahead')
  return at
}

/**
 * Returns the address, the contact if the message is addressed to one, and the id of the contact that the address is
 * known as.
 * @throws {AppError} contact.not_found, contact.blocked
 */
async function resolveRecipient(
  { checkRecipients }: Context,
  recipient: Recipient,
  { organizationId }: Caller,
): Promise<{
  to: string
  contact: string | null
  known: string | undefined
  variables: CheckedRecipient['variables']
}> {
  const [found] = await checkRecipients(organizationId, [recipient], false)
  if (found!.outcome === 'deleted') throw new AppError('contact.not_found')
  if (found!.outcome === 'blocked') throw new AppError('contact.blocked')
  const { variables, contactId: known } = found!
  if ('email' in recipient) return { to: recipient.email, contact: null, known, variables }
  return { to: found!.email, contact: known!, known, variables }
}

type Content = { subject: string; html: string | null; text: string | null; replyTo: string | null }

/** What Liquid shows besides the data. */
type Shown = {
  contact: CheckedRecipient['variables']
  organization: { name: string }
  sender: Sender
  unsubscribeUrl: string | undefined
}

/**
 * Returns the content as it goes out: rendered if the request has data or a template.
 * @throws {AppError} template.unknown, request.missing_field, request.invalid_field
 */
async function contentOf(
  { findTemplate }: Context,
  { template: templateId, data, ...request }: SendMessageRequest,
  { contact, organization, sender, unsubscribeUrl }: Shown,
  { organizationId }: Caller,
): Promise<Content> {
  const template = templateId === undefined ? undefined : await findTemplate(organizationId, templateId)
  const { html = null, text = null } = template ?? request
  const subject = request.subject ?? template?.subject
  if (subject === undefined) throw new AppError('request.missing_field', { path: 'subject' })
  const content = { subject, html, text, replyTo: request.replyTo ?? null }
  if (data === undefined && !template) return content
  if (JSON.stringify(data ?? {}).length > MAX_DATA_CHARACTERS)
    throw new AppError('request.invalid_field', { path: 'data', reason: `at most ${MAX_DATA_CHARACTERS} characters` })
  const { name, email } = sender
  const links = { unsubscribe_url: unsubscribeUrl }
  const variables = { contact, organization, sender: { name, email }, ...links, data: data ?? {} }
  try {
    return { ...content, ...render(content, variables) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const path = template ? 'template' : error.field
    throw new AppError('request.invalid_field', { path, reason: error.message })
  }
}

type Checked = {
  to: string
  contact: string | null
  headers: Record<string, string> | null
  sendAt: Date | null
  sender: Sender
  track: Track | null
}

function draftOf(_id: Types.ObjectId, content: Content, { sender, sendAt, ...checked }: Checked) {
  const status = sendAt ? ('scheduled' as const) : ('queued' as const)
  return {
    _id,
    key: `message ${_id}`,
    kind: 'transactional' as const,
    ...checked,
    ...content,
    sender: sender._id,
    from: sender.email,
    messageId: `<${_id}@${domainOf(sender.email)}>`,
    status,
    sendAt,
    dueAt: sendAt ?? new Date(),
    steps: [{ type: status, at: new Date(), detail: null }],
  }
}

/** Stores a message with its event. @throws {AppError} quota.too_many_pending */
function store(
  { store, collections, config }: Context,
  draft: ReturnType<typeof draftOf>,
  { caller, deadline }: Call,
): Promise<Mail> {
  const { mails } = collections.of(caller.organizationId)
  const quota = {
    limit: config.MESSAGES_WAITING_PER_ORGANIZATION,
    what: 'waiting messages per organization',
    of: { status: { $in: ['scheduled', 'queued'] }, kind: 'transactional' },
    retryAfterSeconds: 60,
  }
  return store.transaction(
    async tx => {
      await requireRoom(mails, quota, tx)
      const mail = await mails.insertOne(draft, { tx })
      const status = mail.status === 'scheduled' ? 'scheduled' : 'queued'
      await addEvents(tx, [mailEvent(mail, status, mail.createdAt)])
      return mail
    },
    { queue: `messages of ${caller.organizationId}`, timeoutMs: deadline - Date.now() },
  )
}
