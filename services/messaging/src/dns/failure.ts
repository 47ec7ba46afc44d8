/**
 * Why a question got no answer: nobody answered in time, or a server said that it failed or would not say, does not know the
 * zone it should serve, or sent what is no answer; or finding out would take more questions than may be asked.
 */
export type FailureKind = 'exhausted' | 'timeout' | 'servfail' | 'refused' | 'lame' | 'malformed' | 'unreachable'

/** Raised where DNS gave no answer, neither "it is this" nor "there is none". */
export class DnsFailure extends Error {
  override name = 'DnsFailure'
  readonly kind: FailureKind
  /** The zone whose servers were asked, and their names; empty where it did not come to that. */
  readonly zone: string
  readonly servers: readonly string[]

  constructor(kind: FailureKind, zone = '', servers: readonly string[] = []) {
    super(`no answer from DNS: ${kind}`)
    this.kind = kind
    this.zone = zone
    this.servers = servers
  }
}

/** Raised where the aliases (CNAME) of a name lead nowhere: in a circle, or on and on. */
export class AliasError extends Error {
  override name = 'AliasError'
  /** The names in the order in which they were followed; of a circle the last one stands there twice. */
  readonly aliases: readonly string[]

  constructor(aliases: readonly string[]) {
    super('the aliases lead nowhere')
    this.aliases = aliases
  }
}
