import { loggedEventFields as declared, type LoggedEventJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import type { Actor } from '@rollcall/rpc'
import type { Origin } from '@rollcall/runtime'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** An entry of the event log. */
export type LoggedEvent = {
  /** Made from the event's id. */
  _id: Types.ObjectId
  organization: Types.ObjectId
  type: string
  at: Date
  actor: Actor
  credential: Origin['credential']
  ip: string | null
  requestId: string | null
  subject: { kind: string; id: string; name: string | null }
  /**
   * JSON, as it was published: its keys may be ones that the database cannot store. An actor in it is `{}`: the name is
   * stored once, so that it can be blanked.
   */
  data: string
  /** Ids of the contacts that were erased from it: without their names, nothing else finds it for them again. */
  erasedFor?: string[]
  expiresAt: Date
}

export const loggedEventSchema = new Schema<LoggedEvent>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    type: { type: String, required: true },
    at: { type: Date, required: true },
    actor: { type: Schema.Types.Mixed, required: true },
    credential: { type: Schema.Types.Mixed as never, default: null },
    ip: { type: String, default: null },
    requestId: { type: String, default: null },
    subject: { type: Schema.Types.Mixed as never, required: true },
    data: { type: String, required: true },
    erasedFor: { type: [String], default: undefined },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'events', versionKey: false },
)
loggedEventSchema.index({ organization: 1, at: -1, _id: -1 })
loggedEventSchema.index({ organization: 1, type: 1, at: -1, _id: -1 })
loggedEventSchema.index({ organization: 1, 'actor.id': 1, at: -1, _id: -1 })
loggedEventSchema.index({ organization: 1, 'subject.id': 1, at: -1, _id: -1 })
loggedEventSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** The public fields of an event. Ids in it are stored as text. */
export const loggedEventFields: FieldTable = { ...declared, 'credential.id': 'string', 'subject.id': 'string' }

const present = presenter<LoggedEventJson>(declared)

/** Returns the data of an event, with its actor. */
export function dataOf({ data: text, actor }: Pick<LoggedEvent, 'data' | 'actor'>): Record<string, unknown> {
  const data = JSON.parse(text)
  // Former releases stored the actor here too.
  return data.actor ? { ...data, actor } : data
}

/** Returns the data of an event, and what it changed. */
export function parsedData(event: Pick<LoggedEvent, 'data' | 'actor'>): Pick<LoggedEventJson, 'data' | 'changes'> {
  const { changes = null, ...data } = dataOf(event) as LoggedEventJson['data'] & Pick<LoggedEventJson, 'changes'>
  return { data, changes }
}

/** Returns an event as the API shows it. */
export function publicEvent(event: LoggedEvent): LoggedEventJson {
  return present({ ...event, ...parsedData(event) })
}
