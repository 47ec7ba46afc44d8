import { AppError, json, parseDate, updated } from '@rollcall/contract'
import type { CreateLinkRequest, UpdateLinkRequest } from '@rollcall/protos/gen/content-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { actorOf, type Call, type Handlers } from '@rollcall/rpc'
import { addEvents, changedFields, changesBetween, event, requireRoom, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { findLink } from './find-link.ts'
import { followLink, recordVisits } from './follow-link.ts'
import { alive, type Link, linkFields, publicLink } from './link.model.ts'
import { linkClicks } from './link-clicks.ts'
import { checkSlug, newSlug, normalizeUrl } from './link-url.ts'

/** Attempts at a random slug; two in a row are taken about never. */
const SLUG_ATTEMPTS = 5

/** Handlers of short links. */
export const links = (context: Context): Handlers<'rollcall.content.v1.Links'> => {
  const shown = (link: Link) => shownLink(context, link)
  return {
    listLinks: ({ list }, { caller }) =>
      runList({
        scope: context.collections.of(caller.organizationId).links,
        query: list ?? {},
        fields: linkFields,
        base: alive,
        present: shown,
      }),

    createLink: async (request, call) => json(shown(await createLink(context, request, call))),
    getLink: async ({ id }, { caller }) =>
      json(shown(await findLink(context.collections.of(caller.organizationId), id))),
    updateLink: (request, call) => updateLink(context, request, call),
    deleteLink: async ({ id }, call) => json(shown(await deleteLink(context, id, call))),
    followLink: (request, call) => followLink(context, request, call),
    async recordVisits(request) {
      await recordVisits(context, request)
      return {}
    },
    getLinkClicks: (request, call) => linkClicks(context, request, call),
  }
}

function shownLink({ config }: Context, link: Link) {
  return publicLink(link, config.PUBLIC_URL)
}

async function createLink(context: Context, request: CreateLinkRequest, { caller }: Call): Promise<Link> {
  const { links } = context.collections.of(caller.organizationId)
  const { slug, title = '', active = true } = request
  if (slug !== undefined) checkSlug(slug)
  const actor = actorOf(caller)
  const draft = {
    url: normalizeUrl(request.url),
    title,
    active,
    expiresAt: readExpiry(context, request.expiresAt) ?? null,
    createdBy: actor,
  }
  const quota = { limit: context.config.LINKS_PER_ORGANIZATION, what: 'links per organization', of: alive }
  const create = (chosen: string) =>
    context.store.transaction(
      async tx => {
        await requireRoom(links, quota, tx)
        const link = await links.insertOne({ ...draft, slug: chosen }, { tx })
        await addEvents(tx, [event('link.created', link, { link: shownLink(context, link), actor })])
        return link
      },
      { queue: `links of ${caller.organizationId}` },
    )
  if (slug !== undefined) return create(slug)
  for (let attempt = 1; ; attempt++) {
    try {
      return await create(newSlug())
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'record.duplicate'
      if (!isTaken || attempt === SLUG_ATTEMPTS) throw error
    }
  }
}

async function updateLink(context: Context, request: UpdateLinkRequest, { caller }: Call): Promise<Updated> {
  const { id, title, active, url } = request
  const expiresAt = readExpiry(context, request.expiresAt)
  const changes = {
    ...(url !== undefined && { url: normalizeUrl(url) }),
    ...(title !== undefined && { title }),
    ...(active !== undefined && { active }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
  await context.store.transaction(async tx => {
    const tenant = context.collections.of(caller.organizationId, tx)
    const before = await findLink(tenant, id)
    const changed = changedFields(before, changes)
    if (changed.length === 0) return
    const after = (await tenant.links.findOneAndUpdate({ _id: before._id }, { $set: changes }))!
    const link = shownLink(context, after)
    const data = { link, changed, changes: changesBetween(changed, shownLink(context, before), link) }
    await addEvents(tx, [event('link.updated', after, { ...data, actor: actorOf(caller) })])
  })
  return updated()
}

/** Empties the link, and deletes its clicks afterwards: nothing shows them without the link. */
async function deleteLink(context: Context, id: string, { caller }: Call): Promise<Link> {
  const { clickDays, visitors } = context.collections.of(caller.organizationId)
  const deleted = await context.store.transaction(async tx => {
    const tenant = context.collections.of(caller.organizationId, tx)
    const link = await findLink(tenant, id)
    await tenant.links.updateOne({ _id: link._id }, { $set: { deletedAt: new Date(), url: '-', title: '' } })
    await addEvents(tx, [event('link.deleted', link, { link: shownLink(context, link), actor: actorOf(caller) })])
    return link
  })
  await clickDays.deleteMany({ link: deleted._id })
  await visitors.deleteMany({ link: deleted._id })
  return deleted
}

/** Returns the end of a link: null for none, undefined for one that is not given. @throws {AppError} request.invalid_field */
function readExpiry({ now }: Context, text: string | undefined): Date | null | undefined {
  if (text === undefined) return undefined
  if (text === '') return null
  const expiresAt = parseDate(text)!
  if (expiresAt.getTime() > now()) return expiresAt
  throw new AppError('request.invalid_field', { path: 'expiresAt', reason: 'must be in the future' })
}
