import { dictionary } from '@zxcvbn-ts/language-common'

/** Shorter ones are refused for their length. */
const MIN_LENGTH = 8
const common = new Set(dictionary['passwords-common'].filter(password => password.length >= MIN_LENGTH))

/**
 * Whether a password is on the list that attackers try first: the most frequent ones of published leaks, in any case.
 */
export function isCommonPassword(password: string): boolean {
  return common.has(password.normalize('NFKC').toLowerCase())
}
