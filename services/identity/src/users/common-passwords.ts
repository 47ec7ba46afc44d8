import { dictionary } from '@zxcvbn-ts/language-common'

/** Shorter passwords are rejected for their length. */
const MIN_LENGTH = 8
const common = new Set(dictionary['passwords-common'].filter(password => password.length >= MIN_LENGTH))

/** Whether a password is one of the most frequent ones in published leaks, ignoring case. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.normalize('NFKC').toLowerCase())
}
