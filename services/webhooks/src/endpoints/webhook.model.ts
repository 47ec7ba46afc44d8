import type { Sealed } from '@rollcall/credentials'
import { webhookFields as declared, type WebhookJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A URL that receives events. */
export type Webhook = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  name: string
  url: string
  description: string
  /** Types that it receives; empty: all. */
  eventTypes: string[]
  active: boolean
  /** When it was last switched on; null if it has been on since its creation. */
  enabledAt: Date | null
  disabledAt: Date | null
  disabledReason: 'user' | 'failing' | 'gone' | null
  /** Names of its own headers, and their values as sealed JSON. */
  headers: string[]
  headerValues: Sealed | null
  /** Signing secret, and the two before it, each until it expires. */
  secret: Sealed
  secretPreview: string
  previousSecret: Sealed | null
  secretExpiresAt: Date | null
  oldestSecret: Sealed | null
  oldestSecretExpiresAt: Date | null
  /** Consecutive failed attempts, since when, and whether `webhook.failing` was published for them. */
  failures: number
  failingSince: Date | null
  isReported: boolean
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

export const webhookSchema = new Schema<Webhook>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    name: { type: String, required: true },
    url: { type: String, required: true },
    description: { type: String, default: '' },
    eventTypes: { type: [String], default: [] },
    active: { type: Boolean, default: true },
    enabledAt: { type: Date, default: null },
    disabledAt: { type: Date, default: null },
    disabledReason: { type: String, default: null },
    headers: { type: [String], default: [] },
    headerValues: { type: Schema.Types.Mixed as never, default: null },
    secret: { type: Schema.Types.Mixed as never, required: true },
    secretPreview: { type: String, required: true },
    previousSecret: { type: Schema.Types.Mixed as never, default: null },
    secretExpiresAt: { type: Date, default: null },
    oldestSecret: { type: Schema.Types.Mixed as never, default: null },
    oldestSecretExpiresAt: { type: Date, default: null },
    failures: { type: Number, default: 0 },
    failingSince: { type: Date, default: null },
    isReported: { type: Boolean, default: false },
    lastSuccessAt: { type: Date, default: null },
    lastFailureAt: { type: Date, default: null },
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'webhooks', timestamps: true, versionKey: false },
)
webhookSchema.index({ organization: 1, createdAt: -1, _id: -1 })

/** The public fields of an endpoint. */
export const webhookFields: FieldTable = declared

/** An endpoint and the number of deliveries that wait for it. */
export type CountedWebhook = Webhook & { pending: number }

const present = presenter<WebhookJson>(declared)

/** Returns an endpoint as the API shows it. */
export function publicWebhook(webhook: CountedWebhook, now = Date.now()): WebhookJson {
  const { secretExpiresAt } = webhook
  const hasOldSecret = secretExpiresAt !== null && secretExpiresAt.getTime() > now
  return present({ ...webhook, secretExpiresAt: hasOldSecret ? secretExpiresAt : null })
}

/** Returns an endpoint as events show it: what waits for it is not counted. */
export function eventWebhook(webhook: Webhook): WebhookJson {
  return publicWebhook({ ...webhook, pending: 0 })
}

type Place = Pick<Webhook, 'organization' | '_id'>

/** Places of an endpoint's secrets; see `Secrets`. */
export const secretPlace = {
  signing: ({ organization, _id }: Place) => `${organization}/webhooks/${_id}/secret`,
  headers: ({ organization, _id }: Place) => `${organization}/webhooks/${_id}/headers`,
}
