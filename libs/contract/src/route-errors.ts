import type protobuf from 'protobufjs'
import { type ErrorCode, entryOf, errorCodes, isErrorCode } from './errors/catalogue.ts'
import { ContractError, type ErrorsOption, readOptions, ruleOf, shapeOf } from './options.ts'
import { fullName } from './root.ts'
import { acceptsIdempotencyKey, needsSecondFactor, speaksOAuth } from './route-traits.ts'
import type { Route } from './routes.ts'

const always: ErrorCode[] = [
  'request.rate_limited',
  'request.host_missing',
  'request.malformed_query',
  'request.extra_field',
  'service.unavailable',
]
const ofCredentials: ErrorCode[] = [
  'credential.missing',
  'credential.malformed',
  'session.invalid',
  'token.bad_organization',
  'token.invalid',
  'token.creator_missing',
  'token.role_missing',
  'token.address_refused',
  'account.blocked',
]
const ofBodies: ErrorCode[] = [
  'request.missing_field',
  'request.invalid_field',
  'request.wrong_content_type',
  'quota.too_many_pending',
]
const ofJson: ErrorCode[] = [
  'request.malformed_json',
  'request.not_an_object',
  'request.wrong_encoding',
  'request.too_large',
  'request.too_deep',
  'request.too_many_pieces',
  'request.too_slow',
]
const ofForms: ErrorCode[] = [
  'request.malformed_form',
  'oauth.repeated_parameter',
  'client.two_credentials',
  'client.malformed_authorization',
]
const ofUploads: ErrorCode[] = ['request.malformed_multipart', 'upload.too_large', 'upload.too_slow']
const ofIdempotencyKeys: ErrorCode[] = [
  'idempotency.invalid_key',
  'idempotency.unfinished',
  'idempotency.reused',
  'idempotency.answer_not_kept',
  'quota.too_many_pending',
]

/**
 * Returns the codes that a route may answer with, in the order of the catalogue: those derived from its access, request
 * and carrier, those that its rpc declares, and `<record>.not_found` if its path has variables and its service a record.
 * @throws {ContractError} for a code that is not in the catalogue, or is declared although it is derived
 */
export function errorsOf(route: Omit<Route, 'errors'>): ErrorCode[] {
  const follows = new Set([...derivedErrors(route), ...recordErrors(route)])
  const declared = declaredErrors(route.rpc)
  const needless = declared.find(code => follows.has(code))
  if (needless) throw new ContractError(`${fullName(route.rpc)}: ${needless} need not be declared`)
  const codes = new Set<ErrorCode>([...follows, ...declared])
  return errorCodes.filter(code => codes.has(code))
}

/** Returns the HTTP status of a code on a route. OAuth endpoints answer 401 for clients only. */
export function statusOn(route: Pick<Route, 'carrier'>, code: ErrorCode): number {
  const { http, shape } = entryOf(code)
  return http === 401 && shape !== 'oauth' && speaksOAuth(route) ? 400 : http
}

function derivedErrors(route: Omit<Route, 'errors'>): ErrorCode[] {
  const { access, carrier, verb, rpc, hasBody, streams } = route
  const isChange = verb !== 'GET'
  return [
    ...always,
    ...(access.kind === 'public' ? [] : [...ofCredentials, ...accessErrors(access)]),
    ...(needsSecondFactor(route) ? (['access.second_factor_required'] as const) : []),
    ...(access.kind !== 'public' && isChange ? (['access.read_only', 'access.cross_origin'] as const) : []),
    ...requestErrors(rpc.resolvedRequestType!),
    ...(hasBody || carrier.body === 'multipart' ? ofBodies : []),
    ...(hasBody && carrier.body !== 'multipart' ? ofJson : []),
    ...(carrier.body === 'form_or_json' ? ofForms : []),
    ...(carrier.body === 'multipart' ? ofUploads : []),
    ...(acceptsIdempotencyKey(route) ? ofIdempotencyKeys : []),
    ...(streams ? (['quota.too_many_pending'] as const) : []),
  ]
}

function accessErrors(access: Exclude<Route['access'], { kind: 'public' }>): ErrorCode[] {
  if (access.kind === 'permission') return ['access.permission_denied']
  const refused: ErrorCode[] = access.sessionOnly ? ['access.session_required'] : []
  if (access.scope === 'any') return refused
  return [...refused, access.scope === 'none' ? 'access.scope_refused' : 'access.permission_denied']
}

function requestErrors(type: protobuf.Type): ErrorCode[] {
  const rules = type.fieldsArray.map(ruleOf)
  return [
    ...(rules.length > 0 ? (['request.invalid_field'] as const) : []),
    ...(rules.some(({ required }) => required) || shapeOf(type).anyField ? (['request.missing_field'] as const) : []),
    ...(rules.some(({ nonEmpty }) => nonEmpty) ? (['request.empty_array'] as const) : []),
  ]
}

function recordErrors({ path, rpc }: Pick<Route, 'path' | 'rpc'>): ErrorCode[] {
  const { record } = readOptions(rpc.parent!) as { record?: string }
  return record !== undefined && path.includes(':') ? [codeOf(rpc, `${record}.not_found`)] : []
}

function declaredErrors(rpc: protobuf.Method): ErrorCode[] {
  const { code = [] } = (readOptions(rpc).errors ?? {}) as ErrorsOption
  return code.map(named => codeOf(rpc, named))
}

function codeOf(rpc: protobuf.Method, code: string): ErrorCode {
  if (isErrorCode(code)) return code
  throw new ContractError(`${fullName(rpc)}: unknown error ${code}`)
}
