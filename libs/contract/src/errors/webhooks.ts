import { badRequest, conflict, forbidden, notFound } from './entry.ts'

/** Refusals of the webhooks context. */
export const webhooksErrors = {
  'webhook.not_found': notFound('webhook'),
  'webhook.too_many': forbidden((d: { limit: number }) => `at most ${d.limit} webhooks per organization`, {
    shape: 'success',
  }),
  'webhook.off': conflict('the webhook is off, switch it on first'),
  'webhook.test_failed': badRequest((d: { reply: string }) => d.reply, { shape: 'success' }),
  'webhook.unknown_type': badRequest((d: { path: string }) => `invalid field -> ${d.path}: no such event type`),
  'delivery.not_found': notFound('delivery'),
  'event.not_found': notFound('event'),
}
