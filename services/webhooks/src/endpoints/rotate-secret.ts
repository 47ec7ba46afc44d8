import { type HttpBody, json } from '@rollcall/contract'
import type { RotateWebhookSecretRequest } from '@rollcall/protos/gen/webhooks-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import { countedWebhook } from './count-pending.ts'
import { newSecret, previewSecret } from './signing.ts'
import { eventWebhook, publicWebhook, secretPlace, type Webhook } from './webhook.model.ts'

const HOUR_MS = 3_600_000
const DEFAULT_HOURS = 24

/**
 * Replaces the signing secret. The replaced one signs as well until the overlap ends, and so does the one before it; an
 * older one stops at once. Without an overlap only the new one signs.
 */
export async function rotateSecret(
  context: Context,
  { id, overlapHours = DEFAULT_HOURS }: RotateWebhookSecretRequest,
  { caller }: Call,
): Promise<HttpBody> {
  const tenant = context.collections.of(caller.organizationId)
  const secret = newSecret()
  const rotated = await context.store.transaction(async tx => {
    const before: Webhook = await tenant.webhooks.get(id, 'webhook', { tx })
    const isKept = overlapHours > 0
    const changes = {
      secret: context.secrets.seal(secret, secretPlace.signing(before)),
      secretPreview: previewSecret(secret),
      previousSecret: isKept ? before.secret : null,
      secretExpiresAt: isKept ? new Date(Date.now() + overlapHours * HOUR_MS) : null,
      oldestSecret: isKept ? before.previousSecret : null,
      oldestSecretExpiresAt: isKept ? before.secretExpiresAt : null,
    }
    const after = await tenant.webhooks.findOneAndUpdate({ _id: id }, { $set: changes }, { tx })
    const webhook = eventWebhook(after!)
    await addEvents(tx, [event('webhook.updated', before, { webhook, changed: ['secret'], actor: actorOf(caller) })])
    return after!
  })
  return json({ ...publicWebhook(await countedWebhook(tenant, rotated)), secret })
}
