import { json } from '@rollcall/contract'
import { type CsvColumns, csvFile } from '@rollcall/csv'
import type { Handlers } from '@rollcall/rpc'
import { listRecords, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { type LoggedEvent, loggedEventFields, parsedData, publicEvent } from './logged-event.model.ts'

const NEWEST_FIRST = { at: -1, _id: -1 } as const

const columns: CsvColumns<LoggedEvent> = [
  ['at', ({ at }) => at.toISOString()],
  ['type', ({ type }) => type],
  ['actor.kind', ({ actor }) => actor.kind],
  ['actor.id', ({ actor }) => actor.id],
  ['actor.name', ({ actor }) => actor.name],
  ['credential.kind', ({ credential }) => credential?.kind ?? null],
  ['credential.id', ({ credential }) => credential?.id ?? null],
  ['ip', ({ ip }) => ip],
  ['requestId', ({ requestId }) => requestId],
  ['subject.kind', ({ subject }) => subject.kind],
  ['subject.id', ({ subject }) => subject.id],
  ['subject.name', ({ subject }) => subject.name],
  ['data', event => JSON.stringify(parsedData(event).data)],
  ['changes', event => textOf(parsedData(event).changes)],
  ['id', ({ _id }) => String(_id)],
]

/** Handlers of the event log. */
export const events = (context: Context): Handlers<'rollcall.webhooks.v1.Events'> => ({
  listEvents: ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).events,
      query: list ?? {},
      fields: loggedEventFields,
      defaultSort: NEWEST_FIRST,
      present: publicEvent,
    }),

  exportEvents: ({ filter, sort }, { caller }) => {
    const scope = context.collections.of(caller.organizationId).events
    const query = { ...(filter !== undefined && { filter }), ...(sort !== undefined && { sort }) }
    return csvFile(columns, listRecords({ scope, query, fields: loggedEventFields, defaultSort: NEWEST_FIRST }))
  },

  getEvent: async ({ id }, { caller }) =>
    json(publicEvent(await context.collections.of(caller.organizationId).events.get(id, 'event'))),
})

function textOf(changes: object | null): string | null {
  return changes && JSON.stringify(changes)
}
