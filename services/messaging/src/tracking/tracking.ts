import { createHash } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import { redirectTo } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { ERASED } from '@rollcall/service'
import type { Context } from '../context.ts'
import type { MessageRef } from '../pages/mail-links.ts'
import { recordIn } from '../returns/record-return.ts'
import { retryDuplicate } from '../suppressions/suppress.ts'
import { isMachine } from './machines.ts'

/** A transparent image of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const URL_KEY_LENGTH = 22

/** Counts that a mail was opened, and answers with its pixel. */
export async function countOpen(context: Context, request: PageRequest, call: Call): Promise<PageResponse> {
  const message = request.key.endsWith('.gif') ? context.links.readOpen(request.key.slice(0, -4)) : undefined
  if (!message) throw new AppError('page.not_found')
  await count(context, message, request, call)
  return { status: 200, contentType: 'image/gif', data: PIXEL }
}

/** Counts that a link was opened, and leads to its URL. */
export async function followLink(context: Context, request: PageRequest, call: Call): Promise<PageResponse> {
  const link = context.links.readClick(request.key)
  if (!link) throw new AppError('page.not_found')
  await count(context, link, request, call, link.url)
  return redirectTo(link.url)
}

/** Counts an open, or a click if there is a URL. Readers get their answer although it cannot be counted. */
async function count(
  context: Context,
  message: MessageRef,
  request: PageRequest,
  call: Call,
  url?: string,
): Promise<void> {
  try {
    await record(context, message, request, call, url)
  } catch (err) {
    call.logger.warn({ err, message: message.messageId }, 'open or click not counted')
  }
}

async function record(
  { store, collections }: Context,
  { organizationId, messageId }: MessageRef,
  request: PageRequest,
  { caller: { userAgent = '' } }: Call,
  url: string | undefined,
): Promise<void> {
  const tenant = collections.of(organizationId)
  const { mails, clicks } = tenant
  const known = await mails.findOne({ _id: messageId })
  if (!known) return
  const at = new Date()
  if (isMachine({ request, userAgent, sentAt: known.sentAt, now: at })) {
    await mails.updateOne({ _id: messageId }, { $inc: { machineVisits: 1 } }, { timestamps: false })
    return
  }
  await retryDuplicate(() =>
    store.transaction(async tx => {
      await mails.updateOne({ _id: messageId }, { $inc: url ? { clicks: 1 } : { opens: 1 } }, { tx, timestamps: false })
      const mail = await mails.findOne({ _id: messageId }, { tx })
      if (!mail || mail.to === ERASED) return
      // A click implies an open, which is not counted itself if images are not loaded.
      await recordIn(tenant, mail, { status: 'opened', at }, tx)
      if (url === undefined) return
      await recordIn(tenant, mail, { status: 'clicked', at, detail: url }, tx)
      const urlKey = createHash('sha256').update(url).digest('base64url').slice(0, URL_KEY_LENGTH)
      const update = { $inc: { count: 1 }, $setOnInsert: { url, campaign: mail.campaign ?? null } }
      await clicks.updateOne({ message: mail._id, urlKey }, update, { tx, upsert: true })
    }),
  )
}
