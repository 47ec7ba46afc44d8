/** How a failed delivery affects the mail. */
export type FailureKind =
  /** Another attempt may succeed. */
  | 'transient'
  /** The receiving server rejected the mail permanently. */
  | 'bounced'
  /** The sender cannot send at all, for example with a wrong password. */
  | 'failed'

/** A failed delivery. The message is the server's reply or the local error. */
export class DeliveryError extends Error {
  override name = 'DeliveryError'
  readonly kind: FailureKind
  /** Whether the receiving server rejected the address itself. */
  readonly isBadAddress: boolean
  /** With `failed`: whether another mail of the sender may go nevertheless. */
  readonly isAboutMail: boolean
  /** With `transient`: whether the server may have accepted the mail without our knowing. */
  readonly mayHaveArrived: boolean
  /** With `transient`: whether it was given up on this side before the server got its text, which is no attempt. */
  readonly isHeldBack: boolean
  /** With `transient`: whether no server answered at all, or none would talk to us. */
  readonly isUnreachable: boolean
  /** With `transient`: the domain whose servers failed, if other recipients have others. */
  readonly domain: string | undefined

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    const { isBadAddress = false, isAboutMail = false, mayHaveArrived = false, isUnreachable = false, cause } = details
    super(message.slice(0, MAX_MESSAGE_LENGTH), { cause })
    this.kind = kind
    this.isBadAddress = isBadAddress
    this.isAboutMail = isAboutMail
    this.mayHaveArrived = mayHaveArrived
    this.isHeldBack = details.isHeldBack ?? false
    this.isUnreachable = isUnreachable
    this.domain = details.domain
  }
}

type FailureDetails = Partial<
  Pick<
    DeliveryError,
    'isBadAddress' | 'isAboutMail' | 'mayHaveArrived' | 'isHeldBack' | 'isUnreachable' | 'domain' | 'cause'
  >
>

const MAX_MESSAGE_LENGTH = 1000

/** Converts an error to a delivery failure; unknown errors are transient. */
export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error
  return new DeliveryError('transient', error instanceof Error ? error.message : String(error), { cause: error })
}

/** Returns the failure of a mail that may not go now. */
export function heldBack(cause: unknown): DeliveryError {
  return new DeliveryError('transient', cause instanceof Error ? cause.message : String(cause), {
    isHeldBack: true,
    cause,
  })
}

const ADDRESS = /<?[^\s<>"(),:;]+@[^\s<>"'(),:;]+>?/g

/** Returns the fields of a failure for the log, which holds no addresses. A server's reply repeats the recipient's. */
export function logFieldsOf({ kind, message }: DeliveryError, to: string): { kind: FailureKind; reason: string } {
  const reason = message.replaceAll(`<${to}>`, to).replaceAll(to, '<address>').replaceAll(ADDRESS, '<address>')
  return { kind, reason }
}
