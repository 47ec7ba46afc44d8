import type { Tenant } from '../collections.ts'
import type { Mail } from '../mail/mail.model.ts'
import type { Mailing } from './mailing.model.ts'

/** Ids that are read at once: an index covers the search, but not every server ends it at the limit. */
const PAGE = 5000

/**
 * Returns the next mails that are due, at most so many, in any order; none when no more are.
 * @param taken those that are in hand already
 */
export type NextDue = (count: number, taken: readonly Mail['_id'][]) => Promise<Mail[]>

/** Returns what hands out the due mails of a mailing, each once a page. */
export function dueMailsOf({ mails }: Tenant, { _id: campaign, ratePerMinute }: Mailing): NextDue {
  const limit = Math.min(PAGE, ratePerMinute ?? PAGE)
  let page: Mail['_id'][] = []

  const readPage = async (taken: readonly Mail['_id'][]) => {
    const due = { campaign, status: 'waiting', nextTryAt: { $lte: new Date() } }
    const others = taken.length > 0 && { _id: { $nin: taken } }
    return (await mails.find({ ...due, ...others }, { limit, projection: { _id: 1 } })).map(({ _id }) => _id)
  }

  return async (count, taken) => {
    for (;;) {
      if (page.length === 0) page = await readPage(taken)
      const ids = page.splice(0, count)
      if (ids.length === 0) return []
      const waiting = (await mails.find({ _id: { $in: ids } })).filter(({ status }) => status === 'waiting')
      if (waiting.length > 0) return waiting
    }
  }
}
