import { randomUUID } from 'node:crypto'
import type { Event } from '@rollcall/runtime'
import type { Types } from 'mongoose'

/** What happened, to what and where. */
type Happening<Data extends object> = { organization: Types.ObjectId; subject: Types.ObjectId; data: Data }

/** Makes an event of this service; to be added to the outbox in the transaction that makes it true. */
export function eventOf<Data extends object>(
  type: string,
  { organization, subject, data }: Happening<Data>,
): Event<Data> {
  return {
    id: randomUUID(),
    type,
    source: 'identity',
    subject: String(subject),
    organization: String(organization),
    time: new Date().toISOString(),
    data,
  }
}
