import { AppError } from '@rollcall/contract'
import { type AddressPolicy, checkHost, UnsafeHost } from '@rollcall/egress'
import type { Smtp, SmtpChange } from '@rollcall/protos/gen/messaging-v1.ts'
import { checkPort } from '../mail/mail-ports.ts'
import type { Sender, SenderSmtp } from './sender.model.ts'

/**
 * Returns the checked mail server of a new sender.
 * @throws {AppError} request.invalid_field, request.missing_field
 */
export async function newSmtp({ host, port, ...smtp }: Smtp, policy: AddressPolicy): Promise<SenderSmtp> {
  const { secure = port === 465, username = null } = smtp
  requireBoth(username, smtp.password !== undefined)
  const settings = { host, port, secure, username }
  await checkServer(settings, policy)
  return settings
}

/**
 * Checks the stored mail server with the change applied.
 * @throws {AppError} sender.not_smtp, request.invalid_field, request.missing_field
 */
export async function checkSmtpChange(
  { smtp, smtpPassword }: Sender,
  { password, username, ...change }: SmtpChange,
  policy: AddressPolicy,
): Promise<void> {
  if (!smtp) throw new AppError('sender.not_smtp')
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const merged = { ...smtp, ...given, ...(username !== undefined && { username: username || null }) }
  // A stored password is only for its server: a new owner of the sender must not send it to another.
  const isSameServer = merged.host === smtp.host && merged.port === smtp.port && merged.secure === smtp.secure
  const hasPassword = password !== undefined || (smtpPassword !== null && username !== '' && isSameServer)
  requireBoth(merged.username, hasPassword)
  await checkServer(merged, policy)
}

/** Requires both user name and password, or neither. */
function requireBoth(username: string | null, hasPassword: boolean): void {
  if (username === null && hasPassword) throw new AppError('request.missing_field', { path: 'smtp.username' })
  if (username !== null && !hasPassword) throw new AppError('request.missing_field', { path: 'smtp.password' })
}

async function checkServer({ host, port }: SenderSmtp, policy: AddressPolicy): Promise<void> {
  await orInvalid('smtp.port', () => checkPort(port, policy))
  await orInvalid('smtp.host', () => checkHost(host, policy))
}

async function orInvalid(path: string, check: () => void | Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw error instanceof UnsafeHost ? new AppError('request.invalid_field', { path, reason: error.message }) : error
  }
}
