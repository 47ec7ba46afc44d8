import { AppError } from '@rollcall/contract'
import type { UpdateUserRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { User } from './user.model.ts'

const MAX_ATTRIBUTES = 50
/** Maximum characters of a text attribute; 50 of them must fit into one record and its event. */
const MAX_TEXT_LENGTH = 1000
const ATTRIBUTE_NAME = /^[\w-]{1,100}$/

type Profile = Partial<Pick<User, 'name' | 'image' | 'country' | 'timezone' | 'language' | 'currency' | 'attributes'>>

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const currencies = new Set(Intl.supportedValuesOf('currency'))

const places = {
  country: {
    fits: text => /^[A-Z]{2}$/.test(text) && regions.of(text) !== undefined,
    expected: 'a country of ISO 3166-1, as DE',
  },
  timezone: { fits: isTimeZone, expected: 'a time zone of IANA, as Europe/Berlin' },
  language: { fits: isLanguage, expected: 'a language of BCP 47, as de-DE' },
  currency: { fits: text => currencies.has(text), expected: 'a currency of ISO 4217, as EUR' },
} satisfies Partial<Record<keyof Profile, { fits: (text: string) => boolean; expected: string }>>

type Place = keyof typeof places

/**
 * Returns a user's profile after a request; null removes a value. Attributes are merged.
 * @throws {AppError} request.invalid_field for an unknown country, time zone, language or currency, too many
 * attributes, or an invalid attribute name
 */
export function profileOf({ attributes, ...request }: Omit<UpdateUserRequest, 'id'>, user: User): Profile {
  for (const path of Object.keys(places) as Place[]) requirePlace(path, request[path])
  const profile = Object.entries(request).map(([field, text]) => [field, text === '' ? null : text])
  return { ...Object.fromEntries(profile), ...(attributes !== undefined && { attributes: merged(attributes, user) }) }
}

/** Refuses an unknown country, time zone, language or currency. @throws {AppError} request.invalid_field */
export function requirePlace(path: Place, text: string | undefined): void {
  const { fits, expected } = places[path]
  if (text && !fits(text)) throw new AppError('request.invalid_field', { path, reason: `must be ${expected}` })
}

function merged(attributes: NonNullable<UpdateUserRequest['attributes']>, user: User): User['attributes'] {
  const given = Object.entries(attributes)
  for (const [name, value] of given) {
    const reason = problemOf(name, value)
    if (reason) throw new AppError('request.invalid_field', { path: `attributes.${name}`, reason })
  }
  const all = Object.entries({ ...user.attributes, ...Object.fromEntries(given) })
  const kept = all.filter(([, value]) => value !== null)
  if (kept.length > MAX_ATTRIBUTES)
    throw new AppError('request.invalid_field', { path: 'attributes', reason: `at most ${MAX_ATTRIBUTES} of them` })
  return Object.fromEntries(kept)
}

function problemOf(name: string, value: unknown): string | undefined {
  if (!ATTRIBUTE_NAME.test(name) || name === '__proto__')
    return 'a name has letters, digits, _ and -, 100 of them at most'
  if (String(value).length > MAX_TEXT_LENGTH) return `at most ${MAX_TEXT_LENGTH} characters`
  return undefined
}

function isTimeZone(text: string): boolean {
  return /^[A-Za-z]/.test(text) && isUnderstood(() => new Intl.DateTimeFormat('en', { timeZone: text }))
}

function isLanguage(text: string): boolean {
  return isUnderstood(() => Intl.getCanonicalLocales(text))
}

function isUnderstood(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
