/** What becomes of a mail that could not be handed over. */
export type FailureKind =
  /** Another attempt may succeed. */
  | 'transient'
  /** The receiving server refused the mail for good. */
  | 'bounced'
  /** It cannot be sent this way, whoever it is for: a wrong password, a sender that is gone. */
  | 'failed'

/** Why a mail was not handed over. The message is what the server said, or what kept it from being asked. */
export class DeliveryError extends Error {
  override name = 'DeliveryError'
  readonly kind: FailureKind
  /** Whether the receiving server says that the address itself is the matter. */
  readonly isBadAddress: boolean

  constructor(
    kind: FailureKind,
    message: string,
    { isBadAddress = false, cause }: { isBadAddress?: boolean; cause?: unknown } = {},
  ) {
    super(message.slice(0, MAX_MESSAGE_LENGTH), { cause })
    this.kind = kind
    this.isBadAddress = isBadAddress
  }
}

const MAX_MESSAGE_LENGTH = 1000

/** Anything thrown as a failure of a delivery: what says nothing for itself may succeed the next time. */
export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error
  return new DeliveryError('transient', error instanceof Error ? error.message : String(error), { cause: error })
}
