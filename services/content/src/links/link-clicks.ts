import { type HttpBody, type Interval, intervalStarts, json, nextOf, startOf } from '@rollcall/contract'
import type { GetLinkClicksRequest, LinkClicksJson } from '@rollcall/protos/gen/content-v1.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import type { ClickDay, Dimension, NamedCount } from './click.model.ts'
import { findLink } from './find-link.ts'

const SHOWN_NAMES = 50
const HOUR_MS = 3_600_000

/** Returns the clicks on a link by interval, and what they are counted by. */
export async function linkClicks(context: Context, request: GetLinkClicksRequest, { caller }: Call): Promise<HttpBody> {
  const interval = (request.interval ?? 'day') as Interval
  const starts = intervalStarts(request, interval)
  const tenant = context.collections.of(caller.organizationId)
  const { _id } = await findLink(tenant, request.id)
  const [first, last] = [starts[0], starts.at(-1)]
  const within = first && last ? { $gte: startOf('day', first), $lt: nextOf(interval, last) } : undefined
  const days = within ? await tenant.clickDays.find({ link: _id, day: within }, { sort: { day: 1 } }) : []
  const report: LinkClicksJson = {
    series: seriesOf(days, starts, interval),
    referrers: namesOf(days, 'referrers'),
    countries: context.countryOf ? namesOf(days, 'countries') : [],
    devices: namesOf(days, 'devices'),
  }
  return json(report)
}

function seriesOf(days: readonly ClickDay[], starts: readonly Date[], interval: Interval): LinkClicksJson['series'] {
  const points = new Map(starts.map(start => [start.getTime(), { clicks: 0, unique: 0 }]))
  for (const { day, clicks, unique } of days)
    for (const [hour, count] of clicks.entries()) {
      const point = points.get(startOf(interval, new Date(day.getTime() + hour * HOUR_MS)).getTime())
      if (!point) continue
      point.clicks += count
      point.unique += unique[hour]!
    }
  return [...points].map(([start, counts]) => ({ at: new Date(start).toISOString(), ...counts }))
}

/** Sums the clicks of all days by name, most first. */
function namesOf(days: readonly ClickDay[], dimension: Dimension): NamedCount[] {
  const sums = new Map<string | null, number>()
  for (const day of days) for (const { name, clicks } of day[dimension]) sums.set(name, (sums.get(name) ?? 0) + clicks)
  return [...sums]
    .map(([name, clicks]) => ({ name, clicks }))
    .sort((one, other) => other.clicks - one.clicks)
    .slice(0, SHOWN_NAMES)
}
