import type { Permissions } from '@rollcall/contract'

/** Who a request acts for, as the gateway or a service established it. */
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
  /** The resource.action pairs that the credential is limited to, whatever its bearer may do; absent: no such limit. */
  scope?: string[]
  /** An impersonation: nothing may change. */
  readOnly: boolean
  impersonatorId?: string
  /** Address and user agent of the client. */
  ip?: string
  userAgent?: string
}

/** Who did something, as records and history keep it. */
export type Actor = { kind: 'user' | 'token' | 'import' | 'workflow' | 'system'; id: string | null; name: string }

/** The caller that a service is when it acts on its own for an organization: jobs, consumers, the gateway's questions. */
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

/** The caller of a public route. */
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

/** The actor that a caller leaves in records and history. */
export function actorOf(caller: Caller): Actor {
  if (caller.kind === 'token') return { kind: 'token', id: caller.tokenId ?? null, name: caller.tokenName ?? '' }
  if (caller.kind === 'session') return { kind: 'user', id: caller.userId, name: caller.userName }
  return { kind: 'system', id: null, name: caller.userName }
}
