import { allows, type EventType } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { PipelineStage } from 'mongoose'

/**
 * Events of the identity service that timelines show, with the details that are stored: never addresses, credentials or
 * role contents. An event that is not listed here is not shown.
 */
const details = {
  'session.created': [],
  'session.impersonated': ['userId', 'expiresAt'],
  'session.exchanged': ['expiresAt'],
  'session.ended': [],
  'user.created': [],
  'user.updated': ['changed'],
  'user.role_changed': ['userId', 'from', 'to'],
  'user.blocked': ['userId'],
  'user.unblocked': ['userId'],
  'user.password_set': [],
  'user.device_revoked': [],
  'user.features_changed': [],
  'token.created': [],
  'token.updated': ['changed'],
  'token.deleted': [],
  'workspace.created': ['workspaceId'],
  'workspace.updated': ['workspaceId', 'changed'],
  'workspace.deleted': ['workspaceId'],
  'member.added': ['workspaceId'],
  'member.role_changed': ['workspaceId', 'userId', 'from', 'to'],
  'member.removed': ['workspaceId'],
} satisfies Partial<Record<EventType, readonly string[]>>

/** An event that timelines show. */
export type TrailType = keyof typeof details
export const trailTypes = Object.keys(details) as TrailType[]

/** Returns the details of an event that history stores. */
export function keptDetails(type: TrailType, data: object): Record<string, unknown> {
  const kept: readonly string[] = details[type]
  return Object.fromEntries(Object.entries(data).filter(([name]) => kept.includes(name)))
}

/**
 * Returns stages that remove what a caller may not see from entries about accounts. Run them before the client's filter, so
 * that it cannot probe hidden details.
 */
export function visibleTrail({ permissions }: Pick<Caller, 'permissions'>): PipelineStage[] {
  const isOfContact = { $ne: ['$subject', 'user'] }
  const ofUser = allows(permissions, 'users', 'read') ? { $switch: { branches, default: nothing } } : nothing
  return [
    { $match: { $or: [{ subject: { $ne: 'user' } }, { type: { $in: trailTypes } }] } },
    { $addFields: { data: { $cond: [isOfContact, '$data', ofUser] } } },
  ]
}

const nothing = { $literal: {} }
const branches = Object.entries(details)
  .filter(([, names]) => names.length > 0)
  .map(([type, names]) => ({
    case: { $eq: ['$type', type] },
    // biome-ignore lint/suspicious/noThenProperty: the operator's own word
    then: Object.fromEntries(names.map(name => [name, `$data.${name}`])),
  }))
