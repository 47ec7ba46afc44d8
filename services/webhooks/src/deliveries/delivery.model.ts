import type { DueRecord } from '@rollcall/jobs'
import { type DeliveryJson, deliveryFields as declared } from '@rollcall/protos/gen/webhooks-v1.ts'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** An event on its way to an endpoint. `attempts` counts claims (see `DueRecord`), `attemptCount` requests. */
export type Delivery = DueRecord & {
  endpoint: Types.ObjectId
  event: { id: string; type: string }
  state: 'pending' | 'delivered' | 'failed' | 'discarded'
  attemptCount: number
  /** Position in the retry schedule: failed attempts since the delivery was scheduled. */
  failures: number
  lastAttemptAt: Date | null
  lastStatus: number | null
  lastError: string | null
  test: boolean
  expiresAt: Date
  createdAt: Date
  updatedAt: Date
}

/** One request of a delivery, and its answer. */
export type Attempt = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  delivery: Types.ObjectId
  endpoint: Types.ObjectId
  at: Date
  trigger: 'auto' | 'manual'
  status: number | null
  durationMs: number
  error: string | null
  url: string
  requestHeaders: string
  responseHeaders: string
  responseBody: string
  /** The body of a test; others are made from their event. */
  body: string | null
  expiresAt: Date
}

export const deliverySchema = new Schema<Delivery>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    endpoint: { type: Schema.Types.ObjectId, required: true },
    event: { type: Schema.Types.Mixed as never, required: true },
    state: { type: String, default: 'pending' },
    dueAt: { type: Date, default: null },
    attempts: { type: Number, default: 0 },
    attemptCount: { type: Number, default: 0 },
    failures: { type: Number, default: 0 },
    lastAttemptAt: { type: Date, default: null },
    lastStatus: { type: Number, default: null },
    lastError: { type: String, default: null },
    test: { type: Boolean, default: false },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'deliveries', timestamps: true, versionKey: false },
)
// Each endpoint gets an event once, however often the event arrives.
deliverySchema.index({ organization: 1, endpoint: 1, 'event.id': 1 }, { unique: true })
deliverySchema.index({ organization: 1, endpoint: 1, createdAt: -1, _id: -1 })
deliverySchema.index({ organization: 1, endpoint: 1, state: 1, createdAt: -1, _id: -1 })
deliverySchema.index({ organization: 1, endpoint: 1, lastAttemptAt: 1 })
// The job queries due deliveries of all organizations.
deliverySchema.index({ dueAt: 1, endpoint: 1, organization: 1 })
deliverySchema.index({ organization: 1, _id: 1, attempts: 1, dueAt: 1 })
deliverySchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

export const attemptSchema = new Schema<Attempt>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    delivery: { type: Schema.Types.ObjectId, required: true },
    endpoint: { type: Schema.Types.ObjectId, required: true },
    at: { type: Date, required: true },
    trigger: { type: String, required: true },
    status: { type: Number, default: null },
    durationMs: { type: Number, required: true },
    error: { type: String, default: null },
    url: { type: String, required: true },
    requestHeaders: { type: String, required: true },
    responseHeaders: { type: String, default: '{}' },
    responseBody: { type: String, default: '' },
    body: { type: String, default: null },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'attempts', versionKey: false },
)
attemptSchema.index({ organization: 1, delivery: 1, at: -1, _id: -1 })
attemptSchema.index({ organization: 1, endpoint: 1 })
attemptSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

/** The public fields of a delivery. */
export const deliveryFields: FieldTable = {
  ...declared,
  'event.id': 'string',
  nextAttemptAt: { type: 'date', path: 'dueAt' },
}

const present = presenter<DeliveryJson>(deliveryFields)

/** Returns a delivery as the API shows it. */
export function publicDelivery(delivery: Delivery): DeliveryJson {
  return present(delivery)
}
