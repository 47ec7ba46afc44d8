import { AsyncLocalStorage } from 'node:async_hooks'

/** The request that caused a change: who made it, with which credential, and from where. */
export type Origin = {
  actor: { kind: 'user' | 'token' | 'import' | 'workflow' | 'system'; id: string | null; name: string }
  /** Null for a caller without one: a public route, or a service on its own. */
  credential: { kind: 'session' | 'token'; id: string } | null
  /** Address of the client; null if a service acts on its own. */
  ip: string | null
  requestId: string | null
}

const origins = new AsyncLocalStorage<() => Origin>()

/** Runs a task whose events get this origin. `read` is called when one of them is made. */
export function withOrigin<T>(read: () => Origin, task: () => T): T {
  return origins.run(read, task)
}

/** Returns the origin of what runs now; undefined outside of `withOrigin`. */
export function currentOrigin(): Origin | undefined {
  return origins.getStore()?.()
}
