import type { Metrics } from '@rollcall/runtime'
import type { Reported } from '../returns/apply-report.ts'
import type { PublishedStatus } from './mail-events.ts'

/** Counters of what became of mails, by outcome. */
export type MailCounters = {
  /** Finished mails. */
  mailsEnded: { inc(labels: { outcome: PublishedStatus }): void }
  /** What was reported of messages, the first time. */
  mailsReported: { inc(labels: { outcome: Reported }): void }
}

/** Creates them with every outcome at 0: `increase` of a series that begins at 1 misses the first. */
export function createMailCounters(metrics: Pick<Metrics, 'counter'>): MailCounters {
  const mailsEnded = metrics.counter({
    name: 'rollcall_mails_ended_total',
    help: 'Mails finished, by outcome: sent, bounced, suppressed, or failed after all attempts',
    labels: ['outcome'],
  })
  const mailsReported = metrics.counter({
    name: 'rollcall_mails_reported_total',
    help: 'Messages of which a provider or a mail server reported after the hand-over, by outcome, each outcome once',
    labels: ['outcome'],
  })
  for (const outcome of ['sent', 'bounced', 'suppressed', 'failed']) mailsEnded.inc({ outcome }, 0)
  for (const outcome of ['delivered', 'bounced', 'complained']) mailsReported.inc({ outcome }, 0)
  return { mailsEnded, mailsReported }
}
