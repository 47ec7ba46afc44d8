import { contractRoutes, type Route } from '@rollcall/contract'
import {
  type CallContext,
  type Client,
  type Connection,
  type ConnectOptions,
  connect,
  type ServiceName,
} from '@rollcall/rpc'

/** A bounded context of the contract, named as in its proto package. One service serves it. */
export type BoundedContext = ServiceName extends infer Name
  ? Name extends `rollcall.${infer Context}.v1.${string}`
    ? Context
    : never
  : never

/** An rpc as the gateway calls it. The strict check has validated the request, so it is not typed here. */
export type Invoke = (request: unknown, context: CallContext) => Promise<unknown> | AsyncIterable<unknown>

/** The services behind the gateway. */
export type Backends = {
  client<N extends ServiceName>(name: N): Client<N>
  /** The rpc that answers a route. */
  invoker(route: Route): Invoke
  /** Resolves when the service of a context can be reached. */
  ready(context: BoundedContext, withinMs: number): Promise<void>
  close(): void
}

const contextOf = (serviceName: string) => serviceName.split('.')[1] as BoundedContext

/** Returns the contexts that have routes or pages. */
export function boundedContexts(): BoundedContext[] {
  const { routes, pages } = contractRoutes()
  return [...new Set([...routes, ...pages].map(route => contextOf(route.service)))]
}

/** Creates connections to all contexts. Each connects at its first call. Times are in milliseconds. */
export function connectBackends(
  options: Omit<ConnectOptions, 'address'> & { addressOf(context: BoundedContext): string },
): Backends {
  const { addressOf, ...shared } = options
  const connections = new Map<BoundedContext, Connection>()
  for (const context of boundedContexts()) {
    connections.set(context, connect({ ...shared, address: addressOf(context) }))
  }
  const clients = new Map<string, unknown>()
  const client = <N extends ServiceName>(name: N): Client<N> => {
    const made = clients.get(name) ?? connections.get(contextOf(name))!.client(name)
    clients.set(name, made)
    return made as Client<N>
  }

  return {
    client,
    invoker: route => (client(route.service as ServiceName) as Record<string, Invoke>)[route.method]!,
    ready: (context, withinMs) => connections.get(context)!.ready(withinMs),
    close() {
      for (const connection of connections.values()) connection.close()
    },
  }
}
