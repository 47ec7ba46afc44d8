import { AppError, json } from '@rollcall/contract'
import type { Mailing, PutMailingRequest, SendTestRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Caller, Handlers } from '@rollcall/rpc'

/** A mailing of the double. */
export type Sent = {
  content: PutMailingRequest
  /** Ids of contacts, in order of arrival. */
  recipients: string[]
  isClosed: boolean
  state: Mailing['state']
  pausedReason: string | undefined
  counts: Partial<NonNullable<Mailing['counts']>>
  failed: number
}

/** A double of the sending side of campaigns: it counts, and sends when a test says so. */
export type Messaging = {
  mailings: Map<string, Sent>
  /** Refusals by sender id; `default` for the default sender. */
  refusals: Map<string, AppError>
  /** Senders that only one user may use: the id of the user, by that of the sender. */
  owners: Map<string, string>
  /** What each call throws, while set. */
  failure: AppError | undefined
  /** Called before a mailing is stored. */
  onPut: (() => Promise<void>) | undefined
  /** Called before each batch of recipients is queued. */
  onQueue: (() => void) | undefined
  /** Called before a mailing is shown. */
  onGet: (() => Promise<void>) | undefined
  /** Called after the state of a mailing has changed. */
  onState: (() => Promise<void>) | undefined
  /** Called after the failed recipients of a mailing wait again. */
  onRetry: (() => void) | undefined
  /** Lets all recipients of a mailing be sent. */
  send(id: string): void
  /** Test mails. */
  tests: SendTestRequest[]
  handlers: Handlers<'rollcall.messaging.v1.Mailings'>
}

const ZERO = {
  recipients: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  opened: 0,
  clicked: 0,
  unsubscribed: 0,
  suppressed: { blocked: 0, unsubscribed: 0, address: 0 },
  failed: 0,
  waiting: 0,
}

/** Creates the double. */
export function messagingDouble(): Messaging {
  const mailings = new Map<string, Sent>()
  const of = (id: string): Sent => {
    if (messaging.failure) throw messaging.failure
    const mailing = mailings.get(id)
    if (!mailing) throw new AppError('mailing.not_found')
    return mailing
  }
  const countsOf = ({ recipients, counts, failed }: Sent) => {
    const sent = counts.sent ?? 0
    const suppressed = counts.suppressed?.unsubscribed ?? 0
    const waiting = recipients.length - sent - failed - suppressed
    return { ...ZERO, ...counts, recipients: recipients.length, failed, waiting }
  }
  const shown = (id: string): Mailing => {
    const mailing = of(id)
    const counts = countsOf(mailing)
    const { state, pausedReason, isClosed } = mailing
    const isFinished = isClosed && counts.waiting === 0
    return { id, state, ...(pausedReason !== undefined && { pausedReason }), isFinished, counts }
  }
  const requireUsable = ({ senderId, userId }: Pick<PutMailingRequest, 'senderId' | 'userId'>, caller: Caller) => {
    const owner = messaging.owners.get(senderId ?? 'default')
    const user = caller.kind === 'service' ? userId : caller.userId
    if (owner && user && user !== owner) throw new AppError('sender.unknown', { path: 'sender' })
  }
  const messaging: Messaging = {
    mailings,
    refusals: new Map(),
    owners: new Map(),
    failure: undefined,
    onPut: undefined,
    onQueue: undefined,
    onGet: undefined,
    onState: undefined,
    onRetry: undefined,
    tests: [],
    send(id) {
      const mailing = of(id)
      mailing.counts = { sent: mailing.recipients.length - mailing.failed }
    },
    handlers: {
      async putMailing(content, { caller }) {
        if (messaging.failure) throw messaging.failure
        requireUsable(content, caller)
        await messaging.onPut?.()
        if ((mailings.get(content.id)?.content.revision ?? 0) > (content.revision ?? Infinity)) return {}
        const fresh: Omit<Sent, 'content'> = {
          recipients: [],
          isClosed: false,
          state: 'prepared',
          pausedReason: undefined,
          counts: {},
          failed: 0,
        }
        mailings.set(content.id, { ...fresh, ...mailings.get(content.id), content })
        return {}
      },
      async queueRecipients({ mailingId, recipients }) {
        const mailing = of(mailingId)
        messaging.onQueue?.()
        const ids = recipients.map(({ contactId }) => contactId)
        mailing.recipients = [...new Set([...mailing.recipients, ...ids])]
        return { queued: ids.length }
      },
      async closeMailing({ id }) {
        of(id).isClosed = true
        return shown(id)
      },
      async setMailingState({ id, state }) {
        Object.assign(of(id), { state, pausedReason: undefined })
        await messaging.onState?.()
        return shown(id)
      },
      async retryFailed({ id }) {
        const mailing = of(id)
        const count = mailing.failed
        mailing.failed = 0
        messaging.onRetry?.()
        return { count }
      },
      async getMailing({ id }) {
        await messaging.onGet?.()
        return shown(id)
      },
      async *listRecipients({ id }) {
        yield json({ docs: of(id).recipients.map(contact => ({ contact })), totalDocs: of(id).recipients.length })
      },
      async *exportRecipients({ id }) {
        yield { contentType: 'text/csv', data: Buffer.from(of(id).recipients.join('\r\n')) }
      },
      async seriesOf({ id, interval }) {
        const { counts } = of(id)
        return {
          points: [{ at: interval, sent: counts.sent ?? 0, delivered: 0, opened: 0, clicked: 0, unsubscribed: 0 }],
        }
      },
      linksOf: async () => ({ links: [{ url: 'https://example.com/', clicks: 2, contacts: 1 }] }),
      async sendTest(request) {
        if (messaging.failure) throw messaging.failure
        messaging.tests.push(request)
        return {}
      },
      async checkSender(request, { caller }) {
        if (messaging.failure) throw messaging.failure
        requireUsable(request, caller)
        const { senderId } = request
        const refusal = messaging.refusals.get(senderId ?? 'default')
        if (refusal) throw refusal
        return { id: senderId ?? '', name: 'News', email: 'news@example.com' }
      },
    },
  }
  return messaging
}
