import { dataOf, type LoggedEvent } from '../events/logged-event.model.ts'

/** Above this size, receivers get the subject's id and fetch the record themselves. */
const MAX_DATA_BYTES = 64 * 1024

type Sent = Pick<LoggedEvent, '_id' | 'organization' | 'type' | 'at' | 'actor' | 'subject' | 'data'>

/**
 * Returns the body of an event, as Standard Webhooks specifies: the same bytes for every endpoint and attempt
 * (https://github.com/standard-webhooks/standard-webhooks).
 */
export function bodyOf(event: Sent, isTest = false): string {
  const { _id, organization, type, at, subject } = event
  const data = JSON.stringify(dataOf(event))
  const isThin = Buffer.byteLength(data) > MAX_DATA_BYTES
  const head = { id: String(_id), type, timestamp: at.toISOString(), organization: String(organization) }
  const text = JSON.stringify(isTest ? { ...head, test: true } : head)
  return `${text.slice(0, -1)},"data":${isThin ? JSON.stringify({ id: subject.id, truncated: true }) : data}}`
}
