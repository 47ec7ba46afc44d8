import { type CsvColumns, csvFile } from '@rollcall/csv'
import {
  type CampaignRecipientJson,
  campaignRecipientFields as declared,
  type LinksOfResponse,
  type SeriesOfRequest,
  type SeriesOfResponse,
} from '@rollcall/protos/gen/messaging-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller } from '@rollcall/rpc'
import { type FieldTable, presenter, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'

const recipientFields: FieldTable = {
  ...declared,
  contact: 'string', // stored as text
  email: { type: 'string', path: 'to' },
  at: { type: 'date', path: 'updatedAt' },
}

const present = presenter<CampaignRecipientJson>(recipientFields)

/** Lists the recipients of a mailing. */
export async function listRecipients(context: Context, { id, list }: ListOfRequest, { organizationId }: Caller) {
  const { mails, mailings } = context.collections.of(organizationId)
  const { _id: campaign } = await mailings.get(id, 'mailing')
  return runList({
    scope: mails,
    base: { campaign },
    fields: recipientFields,
    present: presentRecipient,
    query: list ?? {},
  })
}

/** An entry has no times of a record. */
function presentRecipient(mail: object): CampaignRecipientJson {
  const { createdAt, updatedAt, ...shown } = present(mail) as CampaignRecipientJson & Record<string, unknown>
  return shown as CampaignRecipientJson
}

const columns: CsvColumns<Mail> = [
  ['email', ({ to }) => to],
  ['contact', ({ contact }) => contact],
  ['status', ({ status }) => status],
  ['at', ({ updatedAt }) => updatedAt.toISOString()],
  ['error', ({ error }) => error],
]

/** Returns the recipients as a CSV file, in constant memory. */
export async function exportRecipients({ collections }: Context, id: string, organizationId: string) {
  const { mails, mailings } = collections.of(organizationId)
  const { _id: campaign } = await mailings.get(id, 'mailing')
  const pipeline = [{ $match: { campaign } }, { $sort: { _id: 1 as const } }]
  return csvFile(columns, mails.stream<Mail>(pipeline, { batchSize: 1000 }))
}

const counted = ['sent', 'delivered', 'opened', 'clicked'] as const
type Counted = (typeof counted)[number] | 'unsubscribed'

/** Counts what happened to the messages of a mailing, by hour or day. */
export async function seriesOf(
  { collections }: Context,
  { id, interval }: SeriesOfRequest,
  organizationId: string,
): Promise<SeriesOfResponse> {
  const { mails, mailings } = collections.of(organizationId)
  const { _id: campaign } = await mailings.get(id, 'mailing')
  const startOf = (date: string) => ({ $dateTrunc: { date, unit: interval as 'hour' | 'day' } })
  const [steps, left] = await Promise.all([
    mails.aggregate<{ _id: { at: Date; type: Counted }; count: number }>([
      { $match: { campaign } },
      { $unwind: '$steps' },
      { $match: { 'steps.type': { $in: [...counted] } } },
      { $group: { _id: { at: startOf('$steps.at'), type: '$steps.type' }, count: { $sum: 1 } } },
    ]),
    mails.aggregate<{ _id: Date; count: number }>([
      { $match: { campaign, unsubscribedAt: { $ne: null } } },
      { $group: { _id: startOf('$unsubscribedAt'), count: { $sum: 1 } } },
    ]),
  ])
  const points = new Map<number, SeriesOfResponse['points'][number]>()
  const add = (at: Date, type: Counted, count: number) => {
    const point = points.get(at.getTime()) ?? { ...NOTHING, at: at.toISOString() }
    points.set(at.getTime(), { ...point, [type]: count })
  }
  for (const { _id, count } of steps) add(_id.at, _id.type, count)
  for (const { _id, count } of left) add(_id, 'unsubscribed', count)
  return { points: [...points.values()].sort((one, other) => one.at.localeCompare(other.at)) }
}

const NOTHING = { sent: 0, delivered: 0, opened: 0, clicked: 0, unsubscribed: 0 }

/** Links of a mailing that are shown at most. */
const MAX_LINKS = 1000

/** Counts the clicks on the links of a mailing. */
export async function clicksOf({ collections }: Context, id: string, organizationId: string): Promise<LinksOfResponse> {
  const { clicks, mailings } = collections.of(organizationId)
  const { _id: campaign } = await mailings.get(id, 'mailing')
  const links = await clicks.aggregate<LinksOfResponse['links'][number]>([
    { $match: { campaign: { $eq: campaign, $type: 'objectId' } } }, // the type, because the index of campaigns names it
    { $group: { _id: '$urlKey', url: { $first: '$url' }, clicks: { $sum: '$count' }, contacts: { $sum: 1 } } },
    { $sort: { clicks: -1, _id: 1 } },
    { $limit: MAX_LINKS },
    { $project: { _id: 0 } },
  ])
  return { links }
}
