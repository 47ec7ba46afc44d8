import { linkFields as declared, type LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import type { Actor } from '@rollcall/rpc'
import { type FieldTable, presenter } from '@rollcall/store'
import { Schema, type Types } from 'mongoose'

/** A short link. */
export type Link = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  /** Where it leads, as WHATWG normalizes it. Empty once deleted. */
  url: string
  slug: string
  title: string
  active: boolean
  expiresAt: Date | null
  clicks: number
  uniqueClicks: number
  lastClickedAt: Date | null
  /** A deleted link is kept empty, so that its slug is never given to another one. */
  deletedAt: Date | null
  createdBy: Actor
  createdAt: Date
  updatedAt: Date
}

const date = { type: Date, default: null }

export const linkSchema = new Schema<Link>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    url: { type: String, required: true },
    slug: { type: String, required: true },
    title: { type: String, default: '' },
    active: { type: Boolean, default: true },
    expiresAt: date,
    clicks: { type: Number, default: 0 },
    uniqueClicks: { type: Number, default: 0 },
    lastClickedAt: date,
    deletedAt: date,
    createdBy: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'links', timestamps: true, versionKey: false },
)
// A slug is unique in the installation: a visitor names no organization.
linkSchema.index({ slug: 1 }, { unique: true })
linkSchema.index({ organization: 1, deletedAt: 1, createdAt: -1, _id: -1 })

/** Matches links that are not deleted. */
export const alive = { deletedAt: null }

/** The public fields of a link. */
export const linkFields: FieldTable = declared

const present = presenter<LinkJson>(declared)

/** Returns a link as the API shows it. `publicUrl` is the gateway's. */
export function publicLink(link: Link, publicUrl: string): LinkJson {
  return present({ ...link, shortUrl: `${publicUrl.replace(/\/$/, '')}/l/${link.slug}` })
}

/** Whether a link leads anywhere now. */
export function isOpen({ active, expiresAt, deletedAt }: Link, now: number): boolean {
  return active && deletedAt === null && (expiresAt === null || expiresAt.getTime() > now)
}
