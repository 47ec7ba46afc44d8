import type { User } from '@rollcall/sdk'
import { useSyncExternalStore } from 'react'

/** A read-only session as another user. It is kept in the memory of this tab only. */
export type Impersonation = {
  /** The JWT that goes with every request. */
  token: string
  /** Names the session, to end it. */
  sessionRef: string
  expiresAt: string
  user: User
  /** Name of the person behind it. */
  by: string
}

let current: Impersonation | undefined
const listeners = new Set<() => void>()

/** Returns the impersonation of this tab. */
export function currentImpersonation(): Impersonation | undefined {
  return current
}

/** Sets the impersonation of this tab, or none. */
export function setImpersonation(next: Impersonation | undefined): void {
  current = next
  for (const listener of listeners) listener()
}

/** Returns the impersonation of this tab, and renders again when it changes. */
export function useImpersonation(): Impersonation | undefined {
  return useSyncExternalStore(subscribe, currentImpersonation)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
