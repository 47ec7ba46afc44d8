import { AppError } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'

/** Handlers for messages that use a template. */
export const templateContents = ({ collections }: Context): Handlers<'rollcall.campaigns.v1.TemplateContents'> => ({
  async getTemplateContent({ templateId }, { caller }) {
    const template = await collections.of(caller.organizationId).templates.findOne({ _id: templateId })
    if (!template) throw new AppError('template.unknown')
    const { subject, html, text } = template
    return { html, ...(subject !== null && { subject }), ...(text !== null && { text }) }
  },
})
