import { type AddressPolicy, UnsafeHost } from '@rollcall/egress'

/** Ports of mail submission. With other ports allowed, a user could scan ports. */
const MAIL_PORTS: readonly number[] = [25, 465, 587, 2525]

/**
 * Checks that a port is one of mail submission.
 * @throws {UnsafeHost}
 */
export function checkPort(port: number, { allowPrivate }: AddressPolicy): void {
  if (allowPrivate && port > 0 && port < 65_536) return
  if (!MAIL_PORTS.includes(port)) throw new UnsafeHost(`port must be one of ${MAIL_PORTS.join(', ')}`)
}
