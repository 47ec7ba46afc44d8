import type { Subscription } from '@rollcall/bus'
import { AppError, type Received } from '@rollcall/contract'
import { quoted } from '@rollcall/runtime'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { acceptMail } from './mail.ts'
import { countMail } from './mail-quota.ts'

type Webhook = Received<'webhook.failing'>['webhook']
type Notice = { subject: string; paragraphs: string[] }
type Data = Pick<Context, 'config' | 'collections' | 'ownersOf' | 'accountMailJob' | 'logger'>

/** Mails the owners of an organization when a webhook fails for a day, and when it was switched off. */
export function onWebhookEvents(context: Data): Subscription<ClientSession> {
  return {
    name: 'messaging.on-webhook-events',
    on: {
      'webhook.failing': ({ webhook }, { event, tx }) => mailOwners(context, event, failing(webhook), tx),
      'webhook.disabled': ({ webhook }, { event, tx }) => mailOwners(context, event, disabled(webhook), tx),
    },
  }
}

function failing({ name = '', failingSince }: Webhook): Notice {
  return {
    subject: `Webhook ${quoted(name)} is failing`,
    paragraphs: [
      `Every request to the webhook ${quoted(name)} has failed${failingSince ? ` since ${timeOf(failingSince)}` : ''}.`,
      'Failed events are sent again for about three days. After five days of failures, the webhook is switched off.',
    ],
  }
}

function disabled({ name = '', disabledReason }: Webhook): Notice {
  const reason = disabledReason === 'gone' ? 'its server answered 410 Gone' : 'every request has failed for five days'
  return {
    subject: `Webhook ${quoted(name)} was switched off`,
    paragraphs: [
      `The webhook ${quoted(name)} was switched off, because ${reason}. It gets no more events.`,
      'Events of the last 14 days can be sent to it later: switch it on again and choose Recover.',
    ],
  }
}

/** Stores a mail of the installation to each owner, once per event. */
async function mailOwners(
  context: Data,
  { id, subject: webhook, organization }: { id: string; subject: string; organization: string },
  { subject, paragraphs }: Notice,
  tx: ClientSession,
): Promise<void> {
  const { config, collections, ownersOf, accountMailJob } = context
  const consoleUrl = config.CONSOLE_URL ?? `${config.PUBLIC_URL.replace(/\/$/, '')}/console`
  const text = ['Hello,', ...paragraphs, `${consoleUrl}/webhooks/${webhook}`].join('\n\n')
  for (const to of await ownersOf(organization)) {
    if (!(await hasRoom(context, organization, to, tx))) continue
    await acceptMail(context, collections.of(organization), { key: `${id} ${to}`, to, subject, text }, null, tx)
  }
  accountMailJob.wake()
}

/** Counts a mail, so that webhooks that are switched on again and again do not flood owners. */
async function hasRoom(context: Data, organizationId: string, to: string, tx: ClientSession): Promise<boolean> {
  try {
    await countMail(context, { organizationId, to }, tx)
    return true
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'quota.too_many_pending') throw error
    context.logger.warn({ organizationId }, 'mail about a webhook not sent, too many mails')
    return false
  }
}

function timeOf(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}
