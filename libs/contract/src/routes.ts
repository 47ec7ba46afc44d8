import type protobuf from 'protobufjs'
import { callNameOf } from './call-name.ts'
import { type Carrier, carriers } from './carriers.ts'
import { type Checked, compileCheck, type Input } from './check.ts'
import type { ErrorCode } from './errors/catalogue.ts'
import {
  type AccessOption,
  ContractError,
  type HttpOption,
  httpOf,
  type LimitGroup,
  type ReturnsOption,
  readOptions,
  ruleOf,
  shapeOf,
  type Via,
} from './options.ts'
import { type Action, actionOf, isPermission, isResource, type Permission, type Resource } from './permissions.ts'
import { contractRoot, fullName, lowerFirst, messagesOf, servicesOf } from './root.ts'
import { errorsOf } from './route-errors.ts'

/** Who may call a route: holders of a permission (and a second one), any authenticated caller, or anyone. */
export type Access =
  | { kind: 'permission'; resource: Resource; action: Action; also?: Permission }
  | { kind: 'caller'; scope: RequiredScope; sessionOnly?: true }
  | { kind: 'public' }

/** The permission that a scoped credential needs on a route that only authenticates. `none`: it is refused. */
export type RequiredScope = Permission | 'any' | 'none'

/** A route of the API, compiled from an annotated rpc. A route is data; one engine applies it. */
export type Route = {
  /** Full name of the gRPC service. */
  service: string
  /** Name of the method on generated clients and handlers. */
  method: string
  /** Name of the call in the SDK: contacts.list. */
  call: string
  verb: string
  /** Path with variables as :name. */
  path: string
  /** Names of the path variables, in order. */
  variables: readonly string[]
  access: Access
  /** Resolves API tokens at the organization's tenant server on every request. */
  isControlPlane: boolean
  /** The stricter limit that applies besides the global one. */
  limit: LimitGroup | undefined
  via: Via
  /** Properties of `via`. */
  carrier: Carrier
  /** HTTP status of success. */
  status: number
  returns: ReturnsOption
  hasBody: boolean
  /** The rpc returns a stream of HTTP body chunks. */
  streams: boolean
  /** The error codes that the route may answer with. */
  errors: readonly ErrorCode[]
  /** Turns a request into that of the rpc. @throws {AppError} request.* */
  check: (input: Input) => Checked
  /** The rpc behind the route, for generators of documents. */
  rpc: protobuf.Method
}

/** The routes of the API, and the public pages, which the gateway serves apart: HTML, no credential, no strict check. */
export type Routes = { routes: readonly Route[]; pages: readonly Route[] }

/** Returns the routes and pages of the contract, compiled once per process. @throws {ContractError} */
export function contractRoutes(): Routes {
  compiled ??= compileRoutes(contractRoot())
  return compiled
}

let compiled: Routes | undefined

/** The verb of a route, and who may call it. */
type RouteAccess = Pick<Route, 'verb' | 'access'>

/**
 * Returns the access of an rpc without compiling its route; always the same object, which the rpc's guard reads at each
 * call. Undefined for an internal rpc. @throws {ContractError}
 */
export function accessOf(rpc: protobuf.Method): RouteAccess | undefined {
  const known = accesses.get(rpc)
  if (known) return known
  const http = httpOf(rpc)
  if (!http) return undefined
  const access = readAccess(rpc, readOptions(rpc).access as AccessOption | undefined, http.verb)
  const declared = { verb: http.verb, access }
  accesses.set(rpc, declared)
  return declared
}

const accesses = new WeakMap<protobuf.Method, RouteAccess>()

/**
 * Compiles every rpc with an http rule into a route or a page.
 * @throws {ContractError} for a missing access or required scope; an unknown permission, limit group, option, rule key,
 * error code or returned message; a path variable without a field; two rpcs on one verb and path or with one call name;
 * a page with a credential or other messages
 */
export function compileRoutes(root: protobuf.Root): Routes {
  for (const type of messagesOf(root)) checkMessageOptions(type)
  const routes: Route[] = []
  for (const service of servicesOf(root)) {
    for (const rpc of service.methodsArray) {
      const http = httpOf(rpc)
      if (http) routes.push(compileRoute(service, rpc.resolve() as protobuf.Method, http))
    }
  }
  refuseClashes(routes)
  const { page: pages = [], api = [] } = Object.groupBy(routes, ({ via }) => (via === 'page' ? 'page' : 'api'))
  return { routes: api, pages }
}

function compileRoute(service: protobuf.Service, rpc: protobuf.Method, http: HttpOption): Route {
  const options = readOptions(rpc)
  const path = http.path.replace(/\{(\w+)\}/g, (_, name: string) => `:${camelCase(name)}`)
  const variables = [...path.matchAll(/:(\w+)/g)].map(match => match[1]!)
  const returns = returnsOf(options.returns as ReturnsOption | undefined)
  checkReturns(rpc, returns)
  const via = (options.via ?? 'json') as Via
  const route = {
    service: fullName(service),
    method: lowerFirst(rpc.name),
    call: callNameOf(rpc),
    ...accessOf(rpc)!,
    path,
    variables,
    isControlPlane: (options.access as AccessOption).controlPlane ?? false,
    limit: options.limit as LimitGroup | undefined,
    via,
    carrier: carriers[via],
    status: returns.status ?? 200,
    returns,
    hasBody: http.body,
    streams: rpc.responseStream ?? false,
    check: compileCheck(rpc.resolvedRequestType!, variables, http.body),
    rpc,
  }
  checkPage(route)
  return { ...route, errors: errorsOf(route) }
}

/** Requires what the gateway assumes of a page, and that every route outside /api is a page. */
function checkPage({ rpc, via, path, access }: Pick<Route, 'rpc' | 'via' | 'path' | 'access'>): void {
  if (via !== 'page') {
    if (!path.startsWith('/api/')) throw new ContractError(`${fullName(rpc)}: a route outside /api is a page`)
    return
  }
  const messages = [rpc.resolvedRequestType!, rpc.resolvedResponseType!].map(fullName)
  if (messages.join() !== 'rollcall.PageRequest,rollcall.PageResponse' || rpc.responseStream)
    throw new ContractError(`${fullName(rpc)}: a page takes a PageRequest and answers a PageResponse`)
  if (access.kind !== 'public') throw new ContractError(`${fullName(rpc)}: a page is public`)
}

function checkMessageOptions(type: protobuf.Type): void {
  shapeOf(type)
  for (const field of type.fieldsArray) ruleOf(field)
}

function readAccess(rpc: protobuf.Method, option: AccessOption | undefined, verb: string): Access {
  const given = [option?.resource, option?.caller, option?.public].filter(Boolean)
  if (given.length !== 1) throw new ContractError(`${fullName(rpc)}: a route declares exactly one access`)
  if (option?.also !== undefined && !option.resource) throw new ContractError(`${fullName(rpc)}: also needs a resource`)
  if (option?.caller) {
    const scope = readRequiredScope(rpc, option.scopedAs, verb)
    return { kind: 'caller', scope, ...(option.sessionOnly && { sessionOnly: true }) }
  }
  if (option?.sessionOnly) throw new ContractError(`${fullName(rpc)}: session_only goes with caller only`)
  if (option?.scopedAs !== undefined) throw new ContractError(`${fullName(rpc)}: scoped_as goes with caller only`)
  if (option?.public) return { kind: 'public' }
  const resource = option?.resource ?? ''
  if (!isResource(resource)) throw new ContractError(`${fullName(rpc)}: unknown permission resource ${resource}`)
  const also = option?.also
  if (also === undefined) return { kind: 'permission', resource, action: actionOf(verb) }
  if (!isPermission(also)) throw new ContractError(`${fullName(rpc)}: unknown permission ${also}`)
  return { kind: 'permission', resource, action: actionOf(verb), also }
}

function readRequiredScope(rpc: protobuf.Method, name: string | undefined, verb: string): RequiredScope {
  if (name === 'any' || name === 'none') return name
  if (name !== undefined && isResource(name)) return `${name}.${actionOf(verb)}`
  throw new ContractError(`${fullName(rpc)}: a route for any caller declares scoped_as: a resource, any or none`)
}

/** Returns the option with the field that it names as answers name it. */
function returnsOf({ accepted, ...returns }: ReturnsOption = {}): ReturnsOption {
  return { ...returns, ...(accepted !== undefined && { accepted: camelCase(accepted) }) }
}

function checkReturns(rpc: protobuf.Method, returns: ReturnsOption): void {
  const name = returns.pageOf ?? returns.arrayOf ?? returns.record
  if (name !== undefined && !findMessage(rpc, name))
    throw new ContractError(`${fullName(rpc)}: unknown message ${name}`)
  const finished = rpc.resolvedResponseType!.fullName === '.google.api.HttpBody'
  if (finished && name === undefined && returns.download === undefined) {
    throw new ContractError(`${fullName(rpc)}: finished bytes need a returns option that describes them`)
  }
  if (returns.accepted !== undefined && !rpc.resolvedResponseType!.fields[returns.accepted])
    throw new ContractError(`${fullName(rpc)}: accepted names no field of the answer`)
}

/** Returns the message that a returns option names, searched from the rpc's package outwards. */
export function findMessage(rpc: protobuf.Method, name: string): protobuf.Type | null {
  const found = rpc.parent?.lookup(name)
  return found && 'fieldsArray' in found ? (found as protobuf.Type) : null
}

function refuseClashes(routes: Route[]): void {
  const seen = new Map<string, Route>()
  for (const route of routes) {
    for (const key of [`${route.verb} ${route.path.replace(/:\w+/g, ':')}`, route.call]) {
      const other = seen.get(key)
      if (other) throw new ContractError(`${fullName(route.rpc)} and ${fullName(other.rpc)} are both on ${key}`)
      seen.set(key, route)
    }
  }
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
