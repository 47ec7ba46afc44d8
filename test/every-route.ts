import { contractRoutes } from '@rollcall/rpc'
import type { Api } from './api.ts'

/** A route of the contract. */
export type Route = ReturnType<typeof contractRoutes>[number]

/** Every route of the contract. */
export const routes = contractRoutes()

/** An id that nothing has. */
export const unknownId = 'f'.repeat(24)

/** The route as one says it. */
export const titleOf = ({ verb, path }: Route) => `${verb} ${path}`

/** The path of a route with this in the place of every variable. */
export const pathOf = (route: Route, id = unknownId) => route.path.replace(':provider', 'google').replace(/:\w+/g, id)

/** Setting of a stack whose tests say themselves which address they come from. */
export const manyAddresses = { TRUST_PROXY: '1' }

let address = 0

/** The same client from an address of its own, so that the limits of one request do not reach another. */
export function fromElsewhere(api: Api): Api {
  address++
  return api.with({ 'x-forwarded-for': `198.${18 + ((address >> 16) & 1)}.${(address >> 8) & 255}.${address & 255}` })
}
