import { audienceErrors } from './audience.ts'
import { campaignsErrors } from './campaigns.ts'
import { contentErrors } from './content.ts'
import type { Entry } from './entry.ts'
import { gatewayErrors } from './gateway.ts'
import { identityErrors } from './identity.ts'
import { importErrors } from './import.ts'
import { messagingErrors } from './messaging.ts'
import { sharedErrors } from './shared.ts'
import { webhooksErrors } from './webhooks.ts'

/** The error catalogues: those of the libraries (`shared`), and one for each context. */
export const catalogues = {
  shared: sharedErrors,
  gateway: gatewayErrors,
  audience: audienceErrors,
  campaigns: campaignsErrors,
  content: contentErrors,
  identity: identityErrors,
  import: importErrors,
  messaging: messagingErrors,
  webhooks: webhooksErrors,
}

const catalogue = {
  ...sharedErrors,
  ...gatewayErrors,
  ...audienceErrors,
  ...campaignsErrors,
  ...contentErrors,
  ...identityErrors,
  ...importErrors,
  ...messagingErrors,
  ...webhooksErrors,
}

type Catalogue = typeof catalogue
/** Code of a refusal: a key of the catalogue, stable and machine-readable. */
export type ErrorCode = keyof Catalogue
/** The details that a refusal with this code shows to the caller. */
export type ErrorDetails<C extends ErrorCode> = C extends ErrorCode ? Parameters<Catalogue[C]['text']>[0] : never
/** A kind of record: the `<kind>` of each code `<kind>.not_found`. */
export type RecordKind = ErrorCode extends infer C ? (C extends `${infer Kind}.not_found` ? Kind : never) : never

/** Every code of the catalogue. */
export const errorCodes = Object.keys(catalogue) as ErrorCode[]

/** Returns the catalogue entry of a code. */
export function entryOf<C extends ErrorCode>(code: C): Entry<ErrorDetails<C>> {
  return catalogue[code] as unknown as Entry<ErrorDetails<C>>
}

/** Returns the public text of a code with the names of its details in braces: `duplicate -> {path}`. */
export function errorTextOf(code: ErrorCode): string {
  const named = new Proxy({}, { get: (_, name) => namedDetail(String(name)) })
  return String(entryOf(code).text(named as never))
}

/** Returns the name of a detail in braces, as a value that texts can join, too. */
function namedDetail(name: string): string[] {
  return Object.assign([`{${name}}`], { toString: () => `{${name}}` })
}

/** Whether a value is a code of the catalogue. Codes from other services may be unknown. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}
