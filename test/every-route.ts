import { contractRoutes, type Route } from '@rollcall/contract'
import type { Api } from './api.ts'

/** Every route of the contract. */
export const { routes } = contractRoutes()

/** An id of no record. */
export const unknownId = 'f'.repeat(24)

/** Returns the verb and path of a route. */
export function titleOf({ verb, path }: Route) {
  return `${verb} ${path}`
}

/** Returns the path of a route with this id in place of every variable. */
export function pathOf(route: Route, id = unknownId) {
  return route.path.replace(':provider', 'google').replace(/:\w+/g, id)
}

/** Setting of a stack whose tests choose their client address. */
export const manyAddresses = { TRUST_PROXY: '1' }

let address = 0

/** Returns another client address, so that requests do not share limits. */
export function nextAddress(): string {
  address++
  return `198.${18 + ((address >> 16) & 1)}.${(address >> 8) & 255}.${address & 255}`
}

/** Returns the same client with another address. */
export function fromElsewhere(api: Api): Api {
  return api.with({ 'x-forwarded-for': nextAddress() })
}
