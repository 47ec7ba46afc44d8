/**
 * Why a query got no answer. `lame`: the server does not serve its zone; `exhausted`: the query budget is used up; the
 * others are timeouts, error codes, malformed replies and unreachable servers.
 */
export type FailureKind = 'exhausted' | 'timeout' | 'servfail' | 'refused' | 'lame' | 'malformed' | 'unreachable'

/** Thrown if DNS gave no answer, neither records nor their absence. */
export class DnsFailure extends Error {
  override name = 'DnsFailure'
  readonly kind: FailureKind
  /** The queried zone and its servers; empty if none was queried. */
  readonly zone: string
  readonly servers: readonly string[]

  constructor(kind: FailureKind, zone = '', servers: readonly string[] = []) {
    super(`no answer from DNS: ${kind}`)
    this.kind = kind
    this.zone = zone
    this.servers = servers
  }
}

/** Thrown if the aliases (CNAME) of a name form a loop or a chain that is too long. */
export class AliasError extends Error {
  override name = 'AliasError'
  /** The names in order; in a loop, the last one occurs twice. */
  readonly aliases: readonly string[]

  constructor(aliases: readonly string[]) {
    super('the aliases lead nowhere')
    this.aliases = aliases
  }
}
