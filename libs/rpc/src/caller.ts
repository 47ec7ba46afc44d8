import type { Permissions } from '@rollcall/contract'
import type { Origin } from '@rollcall/runtime'

/** The caller of a request, as established by the gateway or a service. */
export type Caller = {
  kind: 'session' | 'token' | 'service' | 'anonymous'
  /** '' for an anonymous caller. */
  organizationId: string
  /** The user, or a token's creator; null for services and anonymous callers. */
  userId: string | null
  userName: string
  sessionId?: string
  tokenId?: string
  tokenName?: string
  role: string
  permissions: Permissions
  /** The resource.action pairs that the credential is limited to. Absent: no limit. */
  scope?: string[]
  /** Whether it is a read-only impersonation. */
  readOnly: boolean
  impersonatorId?: string
  /** Address and user agent of the client. */
  ip?: string
  userAgent?: string
}

/** Who performed an action, as stored in records and history. */
export type Actor = Origin['actor']

/** Returns the caller of a service that acts on its own: in jobs, consumers, and credential checks of the gateway. */
export function serviceCaller(service: string, organizationId = ''): Caller {
  return {
    kind: 'service',
    organizationId,
    userId: null,
    userName: service,
    role: 'service',
    permissions: '*',
    readOnly: false,
  }
}

/** Returns the caller of a public route. */
export function anonymousCaller(): Caller {
  return {
    kind: 'anonymous',
    organizationId: '',
    userId: null,
    userName: '',
    role: '',
    permissions: [],
    readOnly: false,
  }
}

/** Returns the actor of a caller, for records and history. */
export function actorOf(caller: Caller): Actor {
  if (caller.kind === 'token') return { kind: 'token', id: caller.tokenId ?? null, name: caller.tokenName ?? '' }
  if (caller.kind === 'session') return { kind: 'user', id: caller.userId, name: caller.userName }
  return { kind: 'system', id: null, name: caller.userName }
}

/** Returns the origin of what a caller changes, for events. */
export function originOf({ caller, requestId }: { caller: Caller; requestId: string }): Origin {
  return {
    actor: actorOf(caller),
    credential: credentialOf(caller),
    ip: caller.ip ?? null,
    requestId: requestId || null,
  }
}

function credentialOf({ tokenId, sessionId }: Caller): Origin['credential'] {
  if (tokenId !== undefined) return { kind: 'token', id: tokenId }
  return sessionId === undefined ? null : { kind: 'session', id: sessionId }
}
