import { type Logger, pause } from '@rollcall/runtime'
import type { Model } from 'mongoose'
import type { Mail } from './mail.model.ts'

/** The mails that are due, worked on by every replica. */
export type MailQueue = {
  /** Looks for due mails at once: one was just accepted. */
  wake(): void
  /** Takes no more mails, and waits for those under way. */
  stop(): Promise<void>
}

/** Sends one mail and writes down what became of it. */
export type Work = (mail: Mail) => Promise<void>

const POLL_MS = 1000
const LEASE_MS = 15_000
const RENEW_MS = 5000
const CONCURRENCY = 20
/** Of these: the slow mail server of one organization must not keep the mail of all others waiting. */
const CONCURRENCY_EACH = 5

/**
 * Starts to work off the mails that are due. A mail belongs to the worker that moved its `dueAt`, which goes on moving it
 * while it works; where a worker is killed that stops, and the mail is due again for the others.
 */
export function startMailQueue(mails: Model<Mail>, work: Work, logger: Logger): MailQueue {
  const underWay = new Map<string, { organization: string; done: Promise<void> }>()
  const stopping = new AbortController()
  let wakeUp = Promise.withResolvers<void>()

  const busy = (): string[] => {
    const counts = new Map<string, number>()
    for (const { organization } of underWay.values()) counts.set(organization, (counts.get(organization) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= CONCURRENCY_EACH).map(([id]) => id)
  }

  const takeDue = async (): Promise<void> => {
    const free = CONCURRENCY - underWay.size
    if (free <= 0) return
    const others = busy()
    const due = await mails
      .find({ dueAt: { $lte: new Date() }, ...(others.length > 0 && { organization: { $nin: others } }) })
      .sort({ dueAt: 1 })
      .limit(Math.min(free, CONCURRENCY_EACH))
      .lean<Mail[]>()
    for (const mail of due) if (!stopping.signal.aborted && (await claim(mail))) begin(mail)
    if (due.length > 0) wake()
  }

  const claim = async (mail: Mail): Promise<boolean> => {
    const dueAt = new Date(Date.now() + LEASE_MS)
    const { matchedCount } = await mails.updateOne(
      { _id: mail._id, dueAt: mail.dueAt },
      { $set: { dueAt }, $inc: { attempts: 1 } },
    )
    mail.dueAt = dueAt
    mail.attempts += 1
    return matchedCount === 1
  }

  const begin = (mail: Mail): void => {
    const id = String(mail._id)
    const renewing = setInterval(() => void renew(mail).catch(() => undefined), RENEW_MS)
    const done = work(mail)
      .catch(err => logger.error({ err, mail: id }, 'mail not worked on, it is tried again'))
      .finally(() => {
        clearInterval(renewing)
        underWay.delete(id)
        wake()
      })
    underWay.set(id, { organization: String(mail.organization), done })
  }

  const renew = async (mail: Mail): Promise<void> => {
    const dueAt = new Date(Date.now() + LEASE_MS)
    await mails.updateOne({ _id: mail._id, dueAt: mail.dueAt }, { $set: { dueAt } })
    mail.dueAt = dueAt
  }

  const wake = () => wakeUp.resolve()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      wakeUp = Promise.withResolvers()
      await takeDue().catch(err => logger.warn({ err }, 'no look for due mails'))
      await Promise.race([wakeUp.promise, pause(POLL_MS, stopping.signal)])
    }
    await Promise.all([...underWay.values()].map(({ done }) => done))
  }
  const running = run()

  return {
    wake,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
