import { audienceErrors } from './audience.ts'
import type { Entry } from './entry.ts'
import { gatewayErrors } from './gateway.ts'
import { identityErrors } from './identity.ts'
import { importErrors } from './import.ts'
import { messagingErrors } from './messaging.ts'
import { sharedErrors } from './shared.ts'

/** The catalogues of errors: what the libraries refuse, and what each context does. */
export const catalogues = {
  shared: sharedErrors,
  gateway: gatewayErrors,
  audience: audienceErrors,
  identity: identityErrors,
  import: importErrors,
  messaging: messagingErrors,
}

const catalogue = {
  ...sharedErrors,
  ...gatewayErrors,
  ...audienceErrors,
  ...identityErrors,
  ...importErrors,
  ...messagingErrors,
}

type Catalogue = typeof catalogue
/** The code of a refusal: stable, machine-readable, the key of the catalogue. */
export type ErrorCode = keyof Catalogue
/** What a refusal of this code carries for the caller. */
export type ErrorDetails<C extends ErrorCode> = C extends ErrorCode ? Parameters<Catalogue[C]['text']>[0] : never
/** What `<kind>.not_found` says was not found: a kind of record. */
export type RecordKind = ErrorCode extends infer C ? (C extends `${infer Kind}.not_found` ? Kind : never) : never

/** Every code of the catalogue. */
export const errorCodes = Object.keys(catalogue) as ErrorCode[]

/** The entry of a code. */
export function entryOf<C extends ErrorCode>(code: C): Entry<ErrorDetails<C>> {
  return catalogue[code] as unknown as Entry<ErrorDetails<C>>
}

/** Whether a string names an error of the catalogue: what arrives from another service is not trusted to. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}
