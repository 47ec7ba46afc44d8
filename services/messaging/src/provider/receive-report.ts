import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError, emailKeyOf } from '@rollcall/contract'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { isDuplicate, untilReleased } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { z } from 'zod'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { applyReport, type Reported } from '../returns/apply-report.ts'
import { type Report, rejectsAddress } from '../returns/read-report.ts'
import { recordIn } from '../returns/record-return.ts'
import { signingKeyPlace } from './provider.model.ts'

const MAX_AGE_MS = 15 * 60_000
const MAX_DETAIL_LENGTH = 1000

const textOrNumber = z.union([z.string().max(100), z.number()]).transform(String)
/** A webhook of Mailgun (https://documentation.mailgun.com, "Webhooks"): the parts that are used. */
const reportSchema = z.object({
  signature: z.object({
    timestamp: textOrNumber,
    token: z.string().min(1).max(200),
    signature: z.string().max(200),
  }),
  'event-data': z.object({
    event: z.string(),
    severity: z.string().nullish(),
    reason: z.string().nullish(),
    recipient: z.string().nullish(),
    url: z.string().nullish(),
    message: z.object({ headers: z.object({ 'message-id': z.string().nullish() }).nullish() }).nullish(),
    'delivery-status': z
      .object({
        code: textOrNumber.nullish(),
        'enhanced-code': z.string().nullish(),
        message: z.string().nullish(),
        description: z.string().nullish(),
      })
      .nullish(),
    'client-info': z.object({ bot: z.string().nullish() }).nullish(),
  }),
})

type Webhook = z.infer<typeof reportSchema>
type ReportedEvent = Webhook['event-data']

/**
 * Takes a report of Mailgun about a message. Its signature, its time and that it is new are checked first. The note that
 * it was taken and what follows from it are one transaction, so a report that fails is accepted when it is sent again.
 * @throws {AppError} provider.report_refused
 */
export async function receiveReport(context: Context, request: PageRequest): Promise<PageResponse> {
  const { organizationId = '', key, body } = request
  if (!context.links.isReportKey(organizationId, key)) throw new AppError('provider.report_refused')
  const { signature, 'event-data': reported } = parse(body)
  const tenant = context.collections.of(organizationId)
  await verify(context, tenant, organizationId, signature)
  if (reported.event === 'unsubscribed') {
    // Before it has an effect that is not part of the transaction below.
    if (await isUsed(tenant, signature.token)) throw new AppError('provider.report_refused')
    await unsubscribe(context, tenant, organizationId, reported)
  }
  const expiresAt = new Date(Date.now() + 2 * MAX_AGE_MS)
  const take = context.store.transaction(async tx => {
    await tenant.providerReports.insertOne({ token: signature.token, expiresAt }, { tx })
    const mail = await mailOf(tenant, reported, tx)
    return mail ? { mail, outcome: await apply(context, mail, reported, tx) } : undefined
  })
  const taken = await take.catch(error => {
    if (!isDuplicate(error)) throw error
    return refuseRepeated(tenant, signature.token, error)
  })
  if (taken?.outcome) context.mailsReported.inc({ outcome: taken.outcome })
  if (taken && mayEndMail(reported)) await untilReleased(tenant.holds, [emailKeyOf(taken.mail.to)])
  return { status: 200, contentType: 'application/json; charset=utf-8', data: Buffer.from('{"success":true}') }
}

/** @throws {AppError} provider.report_refused */
function parse(body: Buffer): Webhook {
  try {
    return reportSchema.parse(JSON.parse(body.toString()))
  } catch (cause) {
    throw new AppError('provider.report_refused', {}, { cause })
  }
}

async function verify(
  { secrets }: Context,
  { providers }: Tenant,
  organizationId: string,
  { timestamp, token, signature }: Webhook['signature'],
): Promise<void> {
  const provider = await providers.findOne({ kind: 'mailgun' })
  if (!provider?.webhookSigningKey) throw new AppError('provider.report_refused')
  const signingKey = secrets.open(provider.webhookSigningKey, signingKeyPlace(organizationId))
  const expected = createHmac('sha256', signingKey)
    .update(timestamp + token)
    .digest()
  const given = Buffer.from(signature, 'hex')
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
  const isRecent = Math.abs(Date.now() - Number(timestamp) * 1000) <= MAX_AGE_MS
  if (!isSigned || !isRecent) throw new AppError('provider.report_refused')
}

/** Refuses a report whose token was used; another duplicate arose from a concurrent write, and the provider repeats it. */
async function refuseRepeated(tenant: Tenant, token: string, cause: unknown): Promise<never> {
  const code = (await isUsed(tenant, token)) ? 'provider.report_refused' : 'service.unavailable'
  throw new AppError(code, {}, { cause })
}

async function isUsed({ providerReports }: Tenant, token: string): Promise<boolean> {
  return (await providerReports.findOne({ token })) !== null
}

/** Returns the message of a report. Mailgun keeps our Message-ID, which begins with the id of the message. */
function mailOf({ mails }: Tenant, { message }: ReportedEvent, tx?: ClientSession): Promise<Mail | null> {
  const [, id] = /^<?([0-9a-f]{24})@/.exec(message?.headers?.['message-id'] ?? '') ?? []
  return id === undefined ? Promise.resolve(null) : mails.findOne({ _id: id }, tx && { tx })
}

async function apply(
  context: Context,
  mail: Mail,
  reported: ReportedEvent,
  tx: ClientSession,
): Promise<Reported | undefined> {
  const at = new Date()
  const detail = detailOf(reported)
  const kind = kindOf(reported)
  const tenant = context.collections.of(mail.organization)
  if (kind === 'bounced' && reported.reason === 'suppress-unsubscribe')
    // Mailgun did not try the address, so this is no soft bounce of it either.
    return (await recordIn(tenant, mail, { status: kind, at, detail }, tx)) ? kind : undefined
  if (kind) return applyReport(context, mail, { kind, detail, isBadAddress: isBadAddress(reported) }, tx)
  const isRead = reported.event === 'opened' || reported.event === 'clicked'
  if (!isRead || reported['client-info']?.bot) return undefined
  await recordIn(tenant, mail, { status: 'opened', at }, tx)
  if (reported.event === 'clicked')
    await recordIn(tenant, mail, { status: 'clicked', at, ...(reported.url && { detail: reported.url }) }, tx)
  return undefined
}

/** Whether an address may get no mail after a report. Mail that is being handed over is waited for before the answer. */
function mayEndMail(reported: ReportedEvent): boolean {
  const kind = kindOf(reported)
  return kind !== undefined && kind !== 'delivered'
}

/** Returns what is reported; undefined for events that say nothing of the delivery. */
function kindOf({ event, severity, reason }: ReportedEvent): Report['kind'] | undefined {
  if (event === 'failed' && reason === 'suppress-complaint') return 'complained'
  if (event === 'failed') return severity === 'permanent' ? 'bounced' : 'delayed'
  return event === 'delivered' || event === 'complained' ? event : undefined
}

/** Whether a permanent failure concerns the address itself, and not the message or the state of the mailbox. */
function isBadAddress({ reason, 'delivery-status': status }: ReportedEvent): boolean {
  if (reason === 'suppress-bounce') return true
  const { code, 'enhanced-code': enhanced, message } = status ?? {}
  return rejectsAddress(enhanced || '5.0.0', [code, message].filter(Boolean).join(' '))
}

function detailOf({ 'delivery-status': status, reason, event }: ReportedEvent): string {
  return (status?.message || status?.description || reason || event).slice(0, MAX_DETAIL_LENGTH)
}

/** Opts out the contact of a message, or the one with its address. Repeating it changes nothing. */
async function unsubscribe(
  context: Context,
  tenant: Tenant,
  organizationId: string,
  reported: ReportedEvent,
): Promise<void> {
  const mail = await mailOf(tenant, reported)
  if (!mail || mail.kind === 'account') return
  const recipient = mail.contact === null ? { email: mail.to } : { contactId: mail.contact }
  const [found] = await context.checkRecipients(organizationId, [recipient], false)
  if (!found?.contactId) return
  const change = {
    contactId: found.contactId,
    how: 'provider' as const,
    emailId: String(mail._id),
    leave: [],
    rejoin: [],
  }
  await context.changePreferences(organizationId, { ...change, unsubscribed: true })
}
