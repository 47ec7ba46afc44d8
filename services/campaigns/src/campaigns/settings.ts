import { AppError } from '@rollcall/contract'
import type { UpdateCampaignRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Call } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { callsOf } from './calls.ts'
import type { Campaign } from './campaign.model.ts'
import { refusing } from './check-campaign.ts'

/** Returns the fields of a campaign that a request sets, as they are stored. @throws {AppError} request.* */
export function settingsOf(request: Partial<UpdateCampaignRequest>): Partial<Campaign> {
  const { name, subject, preheader, sender, ratePerMinute, track } = request
  return {
    ...(name !== undefined && { name }),
    ...(subject !== undefined && { subject }),
    ...(preheader !== undefined && { preheader: preheader || null }),
    ...contentOf(request),
    ...(sender !== undefined && { sender: sender ? objectId(sender) : null }),
    ...idsOf(request),
    ...(ratePerMinute !== undefined && { ratePerMinute: ratePerMinute || null }),
    ...(track && { track: { opens: track.opens, clicks: track.clicks } }),
  }
}

/** A template replaces html and text, and they replace it. */
function contentOf({ html, text, template }: Partial<UpdateCampaignRequest>): Partial<Campaign> {
  if (template && (html || text)) throw new AppError('request.extra_field', { path: 'template' })
  if (template) return { template: objectId(template), html: null, text: null }
  return {
    ...(html !== undefined && { html: html || null }),
    ...(text !== undefined && { text: text || null }),
    ...((template !== undefined || html || text) && { template: null }),
  }
}

/** Returns the ids of lists and segments, each once. */
function idsOf(request: Partial<UpdateCampaignRequest>): Partial<Campaign> {
  const fields = (['lists', 'segments', 'excludeLists'] as const).flatMap(field => {
    const ids = request[field]
    return ids ? [[field, [...new Set(ids)].map(id => objectId(id, field))] as const] : []
  })
  return Object.fromEntries(fields)
}

/** Checks that what a request names exists. @throws {AppError} list.unknown, segment.unknown, sender.unknown */
export async function requireReferences(
  { recipients, sending }: Context,
  { lists = [], segments = [], excludeLists = [], sender }: Partial<Campaign>,
  call: Call,
): Promise<void> {
  const { asUser, asService } = callsOf(call)
  const selection = { lists: lists.map(String), segments: segments.map(String), excludeLists: excludeLists.map(String) }
  if ([lists, segments, excludeLists].some(ids => ids.length > 0)) await recipients.checkSelection(selection, asService)
  if (sender) await sending.requireKnownSender(sender, asUser)
}

/** Checks that the caller may send with a sender now, as a start does. @throws {AppError} campaign.not_ready */
export async function requireUsableSender({ sending }: Context, sender: Campaign['sender'], call: Call): Promise<void> {
  await refusing(() => sending.checkSender(sender, callsOf(call).asUser))
}

/**
 * Checks that a template exists, and conflicts with a transaction that deletes it, so that one of the two sees the other.
 * @throws {AppError} template.unknown
 */
export async function holdTemplate(
  { templates }: Tenant,
  { template }: Partial<Campaign>,
  tx: ClientSession,
): Promise<void> {
  if (!template) return
  const held = await templates.updateOne({ _id: template }, { $inc: { holds: 1 } }, { tx, timestamps: false })
  if (held.matchedCount === 0) throw new AppError('template.unknown')
}
