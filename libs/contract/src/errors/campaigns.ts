import { badRequest, conflict, notFound } from './entry.ts'

/** Refusals of the campaigns context. */
export const campaignsErrors = {
  'template.not_found': notFound('template'),
  'template.unknown': badRequest('invalid field -> template: unknown template', { path: 'template' }),
  'template.in_use': conflict('a campaign that is not finished uses the template'),
  'campaign.not_found': notFound('campaign'),
  'campaign.wrong_status': conflict(
    (d: { status: string; verb: string }) => `a campaign that is ${d.status} cannot be ${d.verb}`,
  ),
  'campaign.changed': conflict('the campaign was changed concurrently, please try again'),
  'campaign.not_ready': badRequest((d: { reason: string }) => d.reason, { shape: 'success' }),
  'campaign.nothing_failed': conflict('sending failed for no recipient of the campaign'),
}
