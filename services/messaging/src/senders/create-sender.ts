import { AppError, emailKeyOf, type HttpBody, json } from '@rollcall/contract'
import type { CreateSenderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { actorOf, type Caller } from '@rollcall/rpc'
import { addEvents, event, objectId, requireRoom } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { acquireDomain } from '../domains/domain-use.ts'
import { personOf } from './rights.ts'
import { secretPlace } from './secret-places.ts'
import { domainOf, publicSender } from './sender.model.ts'
import { newSmtp } from './smtp-settings.ts'

/** Creates a sender. Its owner is the caller; for a token, the creator of the token. */
export async function createSender(context: Context, request: CreateSenderRequest, caller: Caller): Promise<HttpBody> {
  const { name, email, replyTo, delivery } = request
  requireOnly(request)
  const user = personOf(caller)
  const place = { _id: new Types.ObjectId(), organization: objectId(caller.organizationId) }
  const smtp = request.smtp ? await newSmtp(request.smtp, context.addressPolicy) : null
  const password = request.smtp?.password
  const collections = context.collections.of(caller.organizationId)
  const quota = { limit: context.config.SENDERS_PER_ORGANIZATION, what: 'senders per organization' }
  const sender = await context.store.transaction(async tx => {
    await requireRoom(collections.senders, quota, tx)
    const domain = domainOf(email)
    if (delivery !== 'oauth') await acquireDomain(collections, domain, tx)
    const draft = {
      _id: place._id,
      name,
      email,
      emailKey: emailKeyOf(email),
      replyTo: replyTo || null,
      domain,
      delivery,
      smtp,
      smtpPassword: password === undefined ? null : context.secrets.seal(password, secretPlace.password(place)),
      oauth: request.oauth ? pending(request.oauth.provider) : null,
      owner: user,
      creator: user,
    }
    const stored = await collections.senders.insertOne(draft, { tx })
    await addEvents(tx, [
      event('email.sender.created', stored, { sender: publicSender(stored), actor: actorOf(caller) }),
    ])
    return stored
  })
  return json(publicSender(sender))
}

function pending(provider: 'google' | 'microsoft') {
  return { provider, email: null, connectedAt: null, status: 'pending' as const }
}

/** Requires the settings of the chosen delivery and no others. */
function requireOnly(request: CreateSenderRequest): void {
  for (const kind of ['smtp', 'oauth'] as const) {
    if (request.delivery === kind && !request[kind]) throw new AppError('request.missing_field', { path: kind })
    if (request.delivery !== kind && request[kind]) {
      throw new AppError('sender.other_delivery', { path: kind })
    }
  }
}
