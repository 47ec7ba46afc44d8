import { AsyncResource } from 'node:async_hooks'
import { type Logger, type Metrics, pause } from '@rollcall/runtime'
import type { Store } from '@rollcall/store'
import type { Collections } from '../collections.ts'
import { countClicks } from './count-clicks.ts'
import type { CountryOf } from './countries.ts'
import type { Link } from './link.model.ts'
import { isMachine, type Visit } from './visit.ts'

/** Counts clicks without delaying redirects. */
export type ClickRecorder = {
  /** Notes a click. It is counted within a second, unless the process is killed before. */
  record(link: Pick<Link, '_id' | 'organization'>, visit: Visit): void
  /** Counts what was noted, and takes no more. */
  stop(): Promise<void>
}

/** The noted clicks on one link. */
export type NotedClicks = { link: Pick<Link, '_id' | 'organization'>; visits: Visit[] }

type Options = {
  store: Store
  collections: Collections
  countryOf: CountryOf | undefined
  logger: Logger
  metrics: Metrics
  flushMs?: number
}

/** Half a second, so that a write of up to as long again leaves no click uncounted after a second. */
const FLUSH_MS = 500
/** Clicks in memory while the database is down. Further ones are not counted. */
const MAX_NOTED = 100_000
const STOP_ATTEMPTS = 5
/** Clicks of one transaction at most, so that it is short. */
const CLICKS_AT_ONCE = 1000

/** Creates the recorder, which counts noted clicks in batches by link. */
export function createClickRecorder(options: Options): ClickRecorder {
  const { logger, metrics, flushMs = FLUSH_MS } = options
  const counted = metrics.counter({
    name: 'rollcall_link_clicks_total',
    help: 'Clicks on short links, by outcome: counted, machine, or dropped because the database was down for long',
    labels: ['outcome'],
  })
  let noted = new Map<string, NotedClicks>()
  let size = 0
  let flushing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const note = ({ link, visits }: NotedClicks) => {
    const key = String(link._id)
    const known = noted.get(key)
    if (known) known.visits.push(...visits)
    else noted.set(key, { link, visits })
    size += visits.length
    timer ??= setTimeout(flushLater, flushMs).unref()
  }

  const count = async (part: NotedClicks[]) => {
    const clicks = part.reduce((sum, { visits }) => sum + visits.length, 0)
    try {
      await countClicks(options, part)
      counted.inc({ outcome: 'counted' }, clicks)
    } catch (err) {
      logger.warn({ err, clicks }, 'clicks not counted, retrying')
      part.forEach(note)
    }
  }

  const flushNow = async () => {
    const batch = [...noted.values()]
    noted = new Map()
    size = 0
    for (const ofOne of Map.groupBy(batch, ({ link }) => String(link.organization)).values())
      for (const part of partsOf(ofOne)) await count(part)
  }

  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    flushing = flushing.then(flushNow)
    return flushing
  }

  // Not in the context of the request that starts the timer: events would carry its address.
  const flushLater = AsyncResource.bind(() => void flush())

  return {
    record(link, visit) {
      if (isMachine(visit)) return counted.inc({ outcome: 'machine' })
      if (size >= MAX_NOTED) return counted.inc({ outcome: 'dropped' })
      note({ link, visits: [visit] })
    },
    async stop() {
      await flush()
      for (let attempt = 1; size > 0 && attempt < STOP_ATTEMPTS; attempt++) {
        await pause(flushMs)
        await flush()
      }
      clearTimeout(timer)
    },
  }
}

/** Divides clicks into parts of `CLICKS_AT_ONCE`. */
function* partsOf(clicks: readonly NotedClicks[]): Generator<NotedClicks[]> {
  let part: NotedClicks[] = []
  let room = CLICKS_AT_ONCE
  for (const { link, visits } of clicks)
    for (let from = 0; from < visits.length; ) {
      const some = visits.slice(from, from + room)
      part.push({ link, visits: some })
      from += some.length
      room -= some.length
      if (room > 0) continue
      yield part
      part = []
      room = CLICKS_AT_ONCE
    }
  if (part.length > 0) yield part
}
