import { AppError, type HttpBody, type Interval, intervalStarts, json, nextOf, startOf } from '@rollcall/contract'
import type { GetGrowthRequest, GrowthPointJson } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, requirePermission } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { contactPositions } from '../contacts/contact.model.ts'
import type { Data } from '../context.ts'
import { dayOf, daysOf, type GrowthDays, growthKinds } from './growth.model.ts'

/**
 * Returns how contacts, or the members of a list, grew: a point for each interval. The totals are counted back from the
 * current one, so they agree with it even where counters are missing.
 */
export async function getGrowth(data: Data, request: GetGrowthRequest, { caller }: Call): Promise<HttpBody> {
  if (request.list !== undefined) requirePermission(caller, 'audience_lists.read')
  const interval = (request.interval ?? 'day') as Interval
  const starts = intervalStarts(request, interval)
  const tenant = data.collections.of(caller.organizationId)
  const list = request.list === undefined ? null : objectId(request.list, 'list')
  const first = starts[0]
  if (!first) return json([])
  // One snapshot: the total and the changes that led to it.
  const { total, days } = await data.store.transaction(async tx => {
    const counted = { list, month: { $gte: startOf('month', first) } }
    const months = await tenant.growth.find(counted, { tx })
    return { days: daysOf(months), total: await totalOf(data, tenant, request.list, tx) }
  })
  return json(seriesOf(starts, interval, days, total))
}

async function totalOf(data: Data, { lists, contacts }: Tenant, list: string | undefined, tx: ClientSession) {
  if (list === undefined) return (await contactPositions(data, contacts.organization).read(tx)).total
  const found = await lists.findOne({ _id: list }, { tx, projection: { memberCount: 1 } })
  if (!found) throw new AppError('list.unknown', { path: 'list' })
  return found.memberCount
}

/** Sums days up by interval. `total` is that after the last day. */
function seriesOf(starts: readonly Date[], interval: Interval, days: GrowthDays, total: number): GrowthPointJson[] {
  const points = new Map(starts.map(start => [start.getTime(), dayOf(new Map(), start)]))
  let later = 0
  const end = nextOf(interval, starts.at(-1)!).getTime()
  for (const [day, counts] of days) {
    const point = points.get(startOf(interval, new Date(day)).getTime())
    if (point) for (const kind of growthKinds) point[kind] += counts[kind]
    else if (day >= end) later += counts.created - counts.deleted
  }
  let atEnd = total - later
  return [...points]
    .reverse()
    .map(([start, counts]) => {
      const point = { at: new Date(start).toISOString(), ...counts, total: Math.max(0, atEnd) }
      atEnd -= counts.created - counts.deleted
      return point
    })
    .reverse()
}
