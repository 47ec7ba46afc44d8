import { notFoundPage, redirectTo } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { toStoreError } from '@rollcall/store'
import type { Context } from '../context.ts'
import { isOpen, type Link } from './link.model.ts'

/** Browsers ask again each time, so that changes apply at once and every click counts. */
const CACHE_CONTROL = 'private, max-age=0'

/** Redirects to the URL of a link and notes the click, unless nobody has opened it: a HEAD request, or a prefetch. */
export async function followLink(context: Context, request: PageRequest, { caller }: Call): Promise<PageResponse> {
  const { key: slug, isHead, isPrefetch, referer, language } = request
  const link = await findBySlug(context, slug)
  const now = context.now()
  if (!link || !isOpen(link, now)) return notFoundPage(language)
  if (!isHead && !isPrefetch) {
    const { ip = '', userAgent = '' } = caller
    context.clicks.record(link, { at: new Date(now), ip, userAgent, referrer: referer })
  }
  return { ...redirectTo(link.url), cacheControl: CACHE_CONTROL }
}

async function findBySlug({ collections }: Context, slug: string): Promise<Link | null> {
  try {
    return await collections.unscoped.links.findOne({ slug }).lean<Link>()
  } catch (error) {
    throw toStoreError(error)
  }
}
