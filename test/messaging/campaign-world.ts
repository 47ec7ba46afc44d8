import assert from 'node:assert/strict'
import type { CampaignJson } from '@rollcall/protos/gen/campaigns-v1.ts'
import { pause } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { bodyOf, onceServed } from '../api.ts'
import { importFile } from '../import/import-job.ts'
import type { TestStack } from '../stack.ts'
import { verifiedDomain } from './verified-domain.ts'

/** What a campaign of the harnesses needs of the product. Quotas are off: they would set the pace. */
export const unlimitedMail = { MAIL_PER_MINUTE: '0', MAIL_PER_DAY: '0' }

const HTML = `<html><body><h1>News for {{ contact.name }}</h1><p>Dear {{ contact.name | default: "reader" }}, this month we
have news of three kinds, and a <a href="https://example.com/offers">list of offers</a> that ends on Sunday.</p>
<p><a href="{{ web_version_url }}">Read in the browser</a> · <a href="{{ unsubscribe_url }}">Leave</a></p></body></html>`

/** The address of a recipient of a campaign, by its number. */
export const addressOf = (index: number, name = 'reader'): string =>
  `${name}${String(index).padStart(6, '0')}@example.com`

/** Imports so many contacts and returns the id of a campaign to them, which is not started. Each has a name of its own. */
export async function makeCampaign(stack: TestStack, count: number, name = 'reader'): Promise<string> {
  const { owner } = stack
  const domain = `${name}.example.org`
  await verifiedDomain(stack, domain)
  const sender = { name: 'News', email: `news@${domain}`, delivery: 'hosted' }
  const { id: senderId } = await bodyOf(owner.post<{ id: string }>('/api/emails/senders', sender), 201)
  const { id: list } = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: `List ${name}` }), 201)
  const rows = Array.from({ length: count }, (_, index) => `${addressOf(index, name)},Reader ${index}`)
  await importFile(owner, ['email,name', ...rows].join('\n'), { listIds: [list] })
  const content = { name: 'News', subject: 'News for {{ contact.name }}', html: HTML, sender: senderId, lists: [list] }
  return (await bodyOf(owner.post<{ id: string }>('/api/emails/campaigns', content), 201)).id
}

/** Polls a campaign until it is sent. Fails if no recipient leaves `waiting` for some time. */
export async function untilSent({ owner }: TestStack, id: string, stallMs = 60_000): Promise<CampaignJson> {
  let waiting = Number.POSITIVE_INFINITY
  for (let deadline = Date.now() + scaledTimeout(stallMs); ; await pause(100)) {
    const campaign = await onceServed(() => bodyOf(owner.get<CampaignJson>(`/api/emails/campaigns/${id}`)))
    if (campaign.status === 'sent') return campaign
    assert.ok(Date.now() < deadline, `the campaign stalls: ${JSON.stringify([campaign.status, campaign.counts])}`)
    if (campaign.counts.waiting === waiting) continue
    waiting = campaign.counts.waiting
    deadline = Date.now() + scaledTimeout(stallMs)
  }
}
