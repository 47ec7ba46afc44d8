import { type HttpBody, json } from '@rollcall/contract'
import type { PreviewTemplateRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import { type Call, serviceCaller } from '@rollcall/rpc'
import { contactToShow } from '../contact-to-show.ts'
import type { Context } from '../context.ts'
import { renderParts } from './content.ts'

/** Where the links of previews lead: a name that never resolves (RFC 2606). */
const SAMPLE_URL = 'https://preview.invalid'

/** Renders a template for one contact. */
export async function previewTemplate(
  context: Context,
  { id, contactId, data, ...content }: PreviewTemplateRequest,
  { caller, deadline }: Call,
): Promise<HttpBody> {
  const template = await context.collections.of(caller.organizationId).templates.get(id, 'template')
  const as = { caller: serviceCaller('campaigns', caller.organizationId), deadline }
  const [contact, { name }] = await Promise.all([
    contactToShow(context, contactId, as),
    context.organizations.findOrganization({}, as),
  ])
  const variables = {
    contact,
    campaign: { name: template.name },
    organization: { name },
    sender: { name, email: 'sender@example.com' },
    unsubscribe_url: `${SAMPLE_URL}/unsubscribe`,
    web_version_url: `${SAMPLE_URL}/web-version`,
    data: data ?? {},
  }
  const { subject, html, text } = template
  return json(renderParts({ subject, html, text, ...content }, variables))
}
