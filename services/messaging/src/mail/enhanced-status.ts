/** Of the address: 5.1, without the codes of bad senders; or its mailbox is disabled: 5.2.1. */
const BAD_ADDRESS = /^5\.(1\.(?![78]$)|2\.1$)/

/** Whether an enhanced status code (RFC 3463) rejects the address of the recipient itself. */
export function isBadAddressStatus(status: string): boolean {
  return BAD_ADDRESS.test(status)
}
