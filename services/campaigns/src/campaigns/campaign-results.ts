import { type HttpBody, json } from '@rollcall/contract'
import { csvFile } from '@rollcall/csv'
import type { CampaignReport, GetCampaignReportRequest } from '@rollcall/protos/gen/campaigns-v1.ts'
import { campaignRecipientFields } from '@rollcall/protos/gen/messaging-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { envelope, parseList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { callsOf } from './calls.ts'
import type { Campaign } from './campaign.model.ts'
import { withDaily } from './daily-series.ts'

const EMPTY_FILE = ['email', 'contact', 'status', 'at', 'error'].map(heading => [heading, () => null] as const)

/** Lists the recipients of a campaign; none before its start. */
export async function* listCampaignRecipients(
  context: Context,
  request: ListOfRequest,
  call: Call,
): AsyncGenerator<HttpBody> {
  const campaign = await campaignOf(context, request.id, call)
  if (isStarted(campaign)) yield* context.sending.recipients(request, callsOf(call).asService)
  else yield json(emptyList(request.list ?? {}))
}

/** Returns the recipients of a campaign as a CSV file. */
export async function* exportCampaign(context: Context, id: string, call: Call): AsyncGenerator<HttpBody> {
  const campaign = await campaignOf(context, id, call)
  if (isStarted(campaign)) yield* context.sending.export(campaign, callsOf(call).asService)
  else yield* csvFile(EMPTY_FILE, [])
}

/** Returns the counts of a campaign as they are now, and over time. */
export async function getCampaignReport(
  context: Context,
  { id, interval = 'day' }: GetCampaignReportRequest,
  call: Call,
): Promise<CampaignReport> {
  const campaign = await campaignOf(context, id, call)
  if (!isStarted(campaign)) return { counts: campaign.counts, series: [], links: [] }
  const { asService } = callsOf(call)
  const [{ counts }, series, links] = await Promise.all([
    context.sending.get(campaign, asService),
    context.sending.series(campaign, interval, asService),
    context.sending.links(campaign, asService),
  ])
  return { counts, series: interval === 'day' ? withDaily(campaign.daily, series) : series, links }
}

/** Returns a list without records, for parameters that any list would take. @throws {AppError} request.invalid_field */
function emptyList(query: NonNullable<ListOfRequest['list']>): unknown {
  const { paginated, page, limit } = parseList(query, campaignRecipientFields)
  return paginated ? envelope([], 0, page, limit) : []
}

function campaignOf(context: Context, id: string, { caller }: Call): Promise<Campaign> {
  return context.collections.of(caller.organizationId).campaigns.get(id, 'campaign')
}

function isStarted({ startedAt }: Campaign): boolean {
  return startedAt !== null
}
