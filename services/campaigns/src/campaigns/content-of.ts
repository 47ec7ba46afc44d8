import { AppError } from '@rollcall/contract'
import type { Context } from '../context.ts'
import type { Parts } from '../templates/content.ts'
import type { Campaign } from './campaign.model.ts'

/** The parts of a mail, one of html and text among them. */
export type CampaignContent = Parts & { subject: string }

/**
 * Returns the content of a campaign: what it sends once it has started, before that its own or that of its template.
 * @throws {AppError} campaign.not_ready if there is none
 */
export async function contentOf(context: Context, campaign: Campaign): Promise<CampaignContent> {
  if (campaign.content) return campaign.content
  const { organization, subject, preheader, template: templateId } = campaign
  const template = templateId && (await context.collections.of(organization).templates.findOne({ _id: templateId }))
  if (templateId && !template) throw notReady('the template no longer exists')
  const { html, text } = template ?? campaign
  if (!html && !text) throw notReady('the campaign has no content: set html, text or template')
  return { subject, preheader, html, text }
}

/** Returns the refusal to send a campaign, for this reason. */
export function notReady(reason: string): AppError {
  return new AppError('campaign.not_ready', { reason })
}
