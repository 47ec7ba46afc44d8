// Generated from the protos by `npm run generate`. Do not edit.

import type { HttpBody } from './api.ts'
import type { ActorJson, Empty, IdRequest, ListOfRequest, ListRequest, Updated } from './types.ts'
/** Webhook endpoints: URLs that receive events, signed as Standard Webhooks specifies. */
export type Webhooks = {
  /** Lists endpoints, newest first. Honours the shared list parameters. Use it to see where events go and which endpoints fail. */
  listWebhooks: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Creates an endpoint. Only this answer and that of a rotation contain the signing secret. The caller needs events.read besides, because the endpoint receives what the event log shows. Use it to hear of changes without asking again and again. */
  createWebhook: { kind: 'unary'; request: CreateWebhookRequest; response: HttpBody }
  /** Lists the types of events, with a description, the JSON Schema of the body and an example. An array, sorted by type. Use it to choose types, and to test a receiver with the examples. */
  listEventTypes: { kind: 'unary'; request: Empty; response: HttpBody }
  /** Returns an endpoint. Use it to see whether an endpoint fails and how much waits for it. */
  getWebhook: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Updates an endpoint. active: true switches it on again and forgets its failures. A change of the URL or more event types need events.read. Use it to move an endpoint, to choose other types, or to switch it off or on. */
  updateWebhook: { kind: 'unary'; request: UpdateWebhookRequest; response: Updated }
  /** Deletes an endpoint with its deliveries. Use it when nobody listens there any more. */
  deleteWebhook: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Makes a new signing secret and returns it. The old one signs as well during the overlap, 24 hours by default; at most two old ones do. Use it when the secret may be known to others, or from time to time. */
  rotateWebhookSecret: { kind: 'unary'; request: RotateWebhookSecretRequest; response: HttpBody }
  /** Sends the example of an event type to the endpoint at once, also if it is off. The body has test: true. 400 with the status and the first line of the answer if the endpoint does not accept it. Does not count in its statistics. Use it to see whether a receiver checks signatures and answers in time. */
  testWebhook: { kind: 'unary'; request: TestWebhookRequest; response: Updated }
  /** Delivers again what failed within a period; with missed: true also events that came while the endpoint was off. Reaches back 14 days at most, or as long as events are kept. At most 10,000 deliveries. Use it after an outage of the receiver. */
  recoverWebhook: { kind: 'unary'; request: RecoverWebhookRequest; response: RecoverWebhookResponse }
  /** Counts deliveries by hour of their last attempt, oldest first, also hours without any. Use it to chart how an endpoint does. */
  getWebhookStats: { kind: 'unary'; request: GetWebhookStatsRequest; response: HttpBody }
}

/** Webhook as JSON. */
export type WebhookJson = {
  _id: string
  id: string
  name: string
  url: string
  description: string
  /** Types that it receives. Empty: all, also later ones. */
  eventTypes: string[]
  active: boolean
  disabledAt: string | null
  /** user: switched off by a user. failing: nothing but failures for five days. gone: it answered 410. */
  disabledReason: 'user' | 'failing' | 'gone' | null
  /** Names of its own headers. Values are never shown. */
  headers: string[]
  /** Start and end of the signing secret. */
  secretPreview: string
  /** Until when the previous secret signs as well. */
  secretExpiresAt: string | null
  /** Since when every attempt has failed. */
  failingSince: string | null
  lastSuccessAt: string | null
  lastFailureAt: string | null
  /** Deliveries that wait for an attempt; counted up to 10,000. */
  pending: number
  createdBy: ActorJson
  createdAt: string
  updatedAt: string
}

/** The public fields of Webhook. */
export const webhookFields = {
  'name': 'string',
  'url': 'string',
  'description': 'string',
  'eventTypes': 'string[]',
  'active': 'boolean',
  'disabledAt': 'date',
  'disabledReason': 'string',
  'headers': 'string[]',
  'secretPreview': 'string',
  'secretExpiresAt': 'date',
  'failingSince': 'date',
  'lastSuccessAt': 'date',
  'lastFailureAt': 'date',
  'pending': { type: 'number', isComputed: true },
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
} as const

/** CreatedWebhook as JSON. */
export type CreatedWebhookJson = {
  _id: string
  id: string
  name: string
  url: string
  description: string
  eventTypes: string[]
  active: boolean
  disabledAt: string | null
  disabledReason: 'user' | 'failing' | 'gone' | null
  headers: string[]
  secretPreview: string
  secretExpiresAt: string | null
  failingSince: string | null
  lastSuccessAt: string | null
  lastFailureAt: string | null
  pending: number
  createdBy: ActorJson
  /** The signing secret, shown only here: whsec_ and the base64 of 32 random bytes. */
  secret: string
  createdAt: string
  updatedAt: string
}

/** The public fields of CreatedWebhook. */
export const createdWebhookFields = {
  'name': 'string',
  'url': 'string',
  'description': 'string',
  'eventTypes': 'string[]',
  'active': 'boolean',
  'disabledAt': 'date',
  'disabledReason': 'string',
  'headers': 'string[]',
  'secretPreview': 'string',
  'secretExpiresAt': 'date',
  'failingSince': 'date',
  'lastSuccessAt': 'date',
  'lastFailureAt': 'date',
  'pending': 'number',
  'createdBy': 'object',
  'createdBy.kind': 'string',
  'createdBy.id': 'string',
  'createdBy.name': 'string',
  'secret': 'string',
} as const

export type CreateWebhookRequest = {
  name: string
  /** https, without user and fragment, on port 443 or 8443. Its host must not have a private address. */
  url: string
  description?: string
  /** Empty, the default: all types. */
  eventTypes: string[]
  /** Header values by name, at most ten. Not host, content-*, connection, cookie, user-agent, webhook-* and the like. */
  headers?: Record<string, string>
  /** Default: true. */
  active?: boolean
}

export type UpdateWebhookRequest = {
  id: string
  name?: string
  url?: string
  description?: string
  /** Replaces the types. */
  eventTypes?: string[]
  /** Replaces the headers; null keeps the stored value of that name. */
  headers?: Record<string, string | number | boolean | null>
  active?: boolean
}

export type RotateWebhookSecretRequest = {
  id: string
  /** How long the replaced secret signs as well. Default: 24. */
  overlapHours?: number
}

export type TestWebhookRequest = {
  id: string
  /** Default: the first type that the endpoint receives. */
  type?: string
}

export type RecoverWebhookRequest = {
  id: string
  since: string
  /** Default: now. */
  until?: string
  missed?: boolean
}

export type RecoverWebhookResponse = {
  /** Number of deliveries that were scheduled. */
  scheduled: number
}

export type GetWebhookStatsRequest = {
  id: string
  /** Hours back from now. Default: 24. */
  hours?: number
}

/** WebhookStats as JSON. */
export type WebhookStatsJson = {
  /** Start of the hour. */
  at: string
  delivered: number
  failed: number
}

/** EventTypeDescription as JSON. */
export type EventTypeDescriptionJson = {
  type: string
  description: string
  /** JSON Schema of the whole body. */
  schema: Record<string, unknown>
  /** A whole body. */
  example: Record<string, unknown>
}

/** Deliveries of events to webhook endpoints. They are kept for 30 days. */
export type Deliveries = {
  /** Lists the deliveries of an endpoint, newest first. Honours the shared list parameters. Use it to find out what an endpoint got, and what failed. */
  listDeliveries: { kind: 'server_stream'; request: ListOfRequest; response: HttpBody }
  /** Returns a delivery with the exact request and every attempt. Bodies need the permission events.read. Use it to see why an attempt failed. */
  getDelivery: { kind: 'unary'; request: IdRequest; response: HttpBody }
  /** Makes one attempt at once, whatever the state of the delivery, and returns it. The id of the event stays the same. Bodies need the permission events.read. Use it when the receiver is mended. */
  replayDelivery: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** The event of a delivery. */
export type DeliveredEventJson = {
  id: string
  type: string
}

/** Delivery as JSON. */
export type DeliveryJson = {
  _id: string
  id: string
  endpoint: string
  event: DeliveredEventJson
  /** discarded: the endpoint was switched off, too many deliveries waited for it, or the event has expired. */
  state: 'pending' | 'delivered' | 'failed' | 'discarded'
  attemptCount: number
  nextAttemptAt: string | null
  /** HTTP status of the last answer. */
  lastStatus: number | null
  /** Why the last attempt failed. */
  lastError: string | null
  /** Sent by the test of an endpoint. */
  test: boolean
  createdAt: string
  updatedAt: string
}

/** The public fields of Delivery. */
export const deliveryFields = {
  'endpoint': 'objectId',
  'event': 'object',
  'event.id': 'objectId',
  'event.type': 'string',
  'state': 'string',
  'attemptCount': 'number',
  'nextAttemptAt': 'date',
  'lastStatus': 'number',
  'lastError': 'string',
  'test': 'boolean',
} as const

/** DeliveryDetails as JSON. */
export type DeliveryDetailsJson = {
  _id: string
  id: string
  endpoint: string
  event: DeliveredEventJson
  state: 'pending' | 'delivered' | 'failed' | 'discarded'
  attemptCount: number
  nextAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  test: boolean
  request: DeliveryRequestJson
  /** Newest first. */
  attempts: DeliveryAttemptJson[]
  createdAt: string
  updatedAt: string
}

/** The public fields of DeliveryDetails. */
export const deliveryDetailsFields = {
  'endpoint': 'objectId',
  'event': 'object',
  'event.id': 'objectId',
  'event.type': 'string',
  'state': 'string',
  'attemptCount': 'number',
  'nextAttemptAt': 'date',
  'lastStatus': 'number',
  'lastError': 'string',
  'test': 'boolean',
  'request': 'object',
  'request.url': 'string',
  'request.headers': 'object',
  'request.body': 'string',
  'attempts': 'object[]',
} as const

/** What was sent in the last attempt. */
export type DeliveryRequestJson = {
  url: string
  /** The endpoint's own headers have their values masked. */
  headers: Record<string, string>
  /** The exact body; '' without the permission events.read. */
  body: string
}

/** DeliveryAttempt as JSON. */
export type DeliveryAttemptJson = {
  at: string
  trigger: 'auto' | 'manual'
  status: number | null
  durationMs: number
  error: string | null
  responseHeaders: Record<string, string>
  /** The first 16 KiB; '' without the permission events.read. */
  responseBody: string
}

/** The event log: everything that happened in the organization except mail to accounts, and who did it. Nobody can change it. */
export type Events = {
  /** Lists events, newest first. Honours the shared list parameters. Use it to answer who did what, when and from where. */
  listEvents: { kind: 'server_stream'; request: ListRequest; response: HttpBody }
  /** Downloads the events that match a filter as CSV, in the order of `sort`. Use it to keep the log longer than the retention, or to search it elsewhere. */
  exportEvents: { kind: 'server_stream'; request: ExportEventsRequest; response: HttpBody }
  /** Returns an event. The id is that of the webhook-id header. Use it to fetch the data of an event that a webhook named. */
  getEvent: { kind: 'unary'; request: IdRequest; response: HttpBody }
}

/** LoggedEvent as JSON. */
export type LoggedEventJson = {
  _id: string
  id: string
  /** What happened, for example contact.created. */
  type: string
  at: string
  actor: ActorJson
  /** With what the actor signed in; null for a service on its own. */
  credential: EventCredentialJson | null
  /** Address of the client. */
  ip: string | null
  /** The X-Request-Id of the request. */
  requestId: string | null
  subject: EventSubjectJson
  /** The data of the event as webhooks receive it, except its changes. */
  data: Record<string, unknown>
  /** What an update changed: the old and the new value of each field, as {field: {from, to}}; null for other events. */
  changes: Record<string, unknown> | null
}

/** The public fields of LoggedEvent. */
export const loggedEventFields = {
  'type': 'string',
  'at': 'date',
  'actor': 'object',
  'actor.kind': 'string',
  'actor.id': 'string',
  'actor.name': 'string',
  'credential': 'object',
  'credential.kind': 'string',
  'credential.id': 'objectId',
  'ip': 'string',
  'requestId': 'string',
  'subject': 'object',
  'subject.kind': 'string',
  'subject.id': 'objectId',
  'subject.name': 'string',
  'data': { type: 'object', isComputed: true },
  'changes': { type: 'object', isComputed: true },
} as const

/** EventCredential as JSON. */
export type EventCredentialJson = {
  kind: 'session' | 'token'
  id: string
}

/** The record that an event is about. */
export type EventSubjectJson = {
  /** Kind of record: contact, token, import and so on. */
  kind: string
  id: string
  name: string | null
}

export type ExportEventsRequest = {
  /** JSON object, as in lists. */
  filter?: string
  sort?: string
}
