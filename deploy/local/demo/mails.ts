import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@rollcall/sdk'
import { decodedMail } from '../mails.ts'
import { ALL, addMissing } from './missing.ts'
import { BROWSER, personAt } from './people.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Visits sooner after the mail are those of machines. */
const HUMAN_MS = 2500
const POLL_MS = 250
const NEWS = 'Autumn news'

const LETTER = `<div style="max-width: 560px; margin: 0 auto; font-family: sans-serif; color: #1e1e25; line-height: 1.5">
  <h1 style="font-size: 24px">What is new this autumn</h1>
  <p>Dear {{ contact.name }},</p>
  <p>our new catalogue is here: tools for work with wood, and lights for the dark season.</p>
  <p><a href="https://example.com/catalogue/autumn">Open the catalogue</a></p>
  <p>We are also at the fair. <a href="https://example.com/fair">Visit us at stand 12</a>: bring this mail, there is cake.</p>
  <p style="font-size: 12px; color: #5a5a66">You get this mail as a customer of {{ organization.name }}.
    <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
</div>`
const RECEIPT = `<p>Dear {{ contact.name }},</p>
<p>thank you for your order {{ data.order }}. We send it on {{ data.day }}.</p>`

/** Adds templates, mails to single people, and addresses that get none. */
export async function addMails({ messages, suppressions, templates }: Client): Promise<void> {
  const wanted = [
    { name: 'Monthly news', subject: 'News for {{ contact.name }}', html: LETTER, description: 'For all customers' },
    { name: 'Receipt', subject: 'Your order {{ data.order }}', html: RECEIPT, description: 'After each order' },
  ]
  await addMissing(templates.list(ALL), 'name', wanted, body => templates.create(body))
  const { docs } = await templates.list({ filter: { name: 'Receipt' }, limit: 1 })
  const orders = [21, 22, 23].map(number => ({ number, subject: `Your order ${number}` }))
  await addMissing(messages.list(ALL), 'subject', orders, ({ number }) =>
    messages.send({
      to: personAt(number).email,
      template: docs[0]!._id,
      data: { order: number, day: 'Monday' },
      ...(number === 23 && { sendAt: new Date(Date.now() + DAY_MS).toISOString() }),
    }),
  )
  const addresses = [
    { email: 'sales@example.org', reason: 'Asked by phone to get no mail' },
    { email: 'info@example.net', reason: 'A shared mailbox' },
  ]
  await addMissing(suppressions.list(ALL), 'email', addresses, body => suppressions.create(body))
}

/** Adds a draft, a scheduled campaign, and one that is sent and read by some. */
export async function addCampaigns({ campaigns, segments, templates }: Client, mailFolder: string): Promise<void> {
  const [segment] = (await segments.list({ filter: { name: 'Business, many seats' }, limit: 1 })).docs
  const [template] = (await templates.list({ filter: { name: 'Monthly news' }, limit: 1 })).docs
  const content = { segments: [segment!._id], track: { opens: true, clicks: true } }
  const wanted = [
    { name: 'Winter sale', subject: 'The winter sale begins on Friday' },
    { name: 'December news', subject: 'Three gifts that we would like to get', template: template!._id },
    { name: NEWS, subject: 'The autumn catalogue is here', template: template!._id },
  ]
  await addMissing(campaigns.list(ALL), 'name', wanted, async body => {
    const { id } = await campaigns.create({ ...content, ...body })
    if (body.name === 'December news')
      await campaigns.schedule(id, { at: new Date(Date.now() + 7 * DAY_MS).toISOString() })
    if (body.name !== NEWS) return
    await campaigns.start(id)
    while ((await campaigns.get(id)).status === 'sending') await sleep(POLL_MS)
    await sleep(HUMAN_MS)
    await readMails(mailFolder, body.subject)
  })
}

/** Opens half of the mails with a subject, follows links in a fifth of them, and unsubscribes the reader of one. */
async function readMails(folder: string, subject: string): Promise<void> {
  const mails = readdirSync(folder).map(name => decodedMail(join(folder, name)))
  const sent = mails.filter(mail => mail.includes(`Subject: ${subject}`))
  for (const [at, mail] of sent.entries()) {
    if (at % 2 === 0) await visit(/src="([^"]+\/t\/o\/[^"]+)"/.exec(mail)?.[1])
    const links = [...mail.matchAll(/href="([^"]+\/t\/c\/[^"]+)"/g)].map(([, url]) => url)
    if (at % 5 === 0) await visit(links[at % 3 === 0 ? 1 : 0])
    if (at === 0) await visit(/^List-Unsubscribe: <([^>]+)>/im.exec(mail)?.[1], 'POST')
  }
}

async function visit(url: string | undefined, method = 'GET'): Promise<void> {
  const headers = { 'user-agent': BROWSER }
  const body = method === 'POST' ? new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) : null
  if (url) await fetch(url, { method, redirect: 'manual', headers, body })
}
