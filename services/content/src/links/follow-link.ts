import { notFoundPage, redirectTo } from '@rollcall/pages'
import type { RecordVisitsRequest } from '@rollcall/protos/gen/content-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { toStoreError } from '@rollcall/store'
import type { Context } from '../context.ts'
import { alive, isOpen, type Link } from './link.model.ts'

/** Browsers ask again each time, so that changes apply soon and every click counts. */
const CACHE_CONTROL = 'private, max-age=0'
/** How long a gateway may redirect by itself: until a change applies. */
const REUSE_MS = 500

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
  const leftMs = link.expiresAt ? link.expiresAt.getTime() - now : REUSE_MS
  return { ...redirectTo(link.url), cacheControl: CACHE_CONTROL, reuseMs: Math.min(REUSE_MS, leftMs) }
}

/** Notes the clicks that a gateway redirected by itself. */
export async function recordVisits(context: Context, { visits }: RecordVisitsRequest): Promise<void> {
  const slugs = [...new Set(visits.map(({ slug }) => slug))]
  const { links } = context.collections.unscoped
  const found = await links
    .find({ slug: { $in: slugs }, ...alive }, { organization: 1, slug: 1 })
    .lean<Link[]>()
    .catch(refuse)
  const bySlug = new Map(found.map(link => [link.slug, link]))
  for (const { slug, at, ip, userAgent, referrer } of visits) {
    const link = bySlug.get(slug)
    if (link) context.clicks.record(link, { at: new Date(at), ip, userAgent, referrer })
  }
}

function findBySlug({ collections }: Context, slug: string): Promise<Link | null> {
  return collections.unscoped.links.findOne({ slug }).lean<Link>().catch(refuse)
}

function refuse(error: unknown): never {
  throw toStoreError(error)
}
