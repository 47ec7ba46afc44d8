import type { Match } from '@rollcall/contract'
import type { RecordVisitsRequestVisit } from '@rollcall/protos/gen/content-v1.ts'
import type { PageResponse } from '@rollcall/protos/gen/types.ts'
import { type Client, serviceCaller } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import { LRUCache } from 'lru-cache'
import type { Exchange } from './exchange.ts'

/** Short: visits are lost if the process is killed before. */
const REPORT_MS = 200
const VISITS_PER_CALL = 1000
/** Visits in memory. Further ones are not counted. */
const MAX_VISITS = 100_000
const TIMEOUT_MS = 3_000
const MAX_LINKS = 10_000

/** Redirects of short links that this process may repeat for a moment, and whom it redirected. */
export type ShortLinks = {
  /** Returns the redirect of a path, and notes the visit; undefined if content must be asked, which counts it then. */
  follow(exchange: Exchange, match: Match): PageResponse | undefined
  /** Keeps a redirect for as long as it may be repeated. */
  keep(exchange: Exchange, page: PageResponse): void
  /** Reports the last visits. */
  stop(): Promise<void>
}

/** What `startShortLinks` needs. */
export type ShortLinksOptions = { links: Pick<Client<'rollcall.content.v1.Links'>, 'recordVisits'>; logger: Logger }

/**
 * Starts to repeat redirects. Most visits then cost one process nothing but a lookup, and are reported together. A report that
 * fails is not repeated: a visit must not count twice.
 */
export function startShortLinks({ links, logger }: ShortLinksOptions): ShortLinks {
  const redirects = new LRUCache<string, PageResponse>({ max: MAX_LINKS })
  let visits: RecordVisitsRequestVisit[] = []
  let timer: NodeJS.Timeout | undefined
  let reporting = Promise.resolve()

  const report = async () => {
    const noted = visits
    visits = []
    for (let from = 0; from < noted.length; from += VISITS_PER_CALL) {
      const deadline = Date.now() + TIMEOUT_MS
      const some = noted.slice(from, from + VISITS_PER_CALL)
      await links.recordVisits({ visits: some }, { caller: serviceCaller('gateway'), deadline }).catch(err => {
        logger.warn({ err, visits: some.length }, 'visits of short links not counted')
      })
    }
  }
  const reportNow = () => {
    clearTimeout(timer)
    timer = undefined
    reporting = reporting.then(report)
    return reporting
  }

  return {
    follow({ request, path, ip }, { params }) {
      const redirect = redirects.get(path)
      if (!redirect || request.method !== 'GET') return redirect
      if (visits.length < MAX_VISITS) {
        const { 'user-agent': userAgent = '', referer: referrer = '' } = request.headers
        visits.push({ slug: params.key!, at: Date.now(), ip, userAgent, referrer })
        timer ??= setTimeout(reportNow, REPORT_MS).unref()
      }
      return redirect
    },
    keep({ path }, page) {
      if (page.reuseMs) redirects.set(path, page, { ttl: page.reuseMs })
    },
    stop: reportNow,
  }
}
