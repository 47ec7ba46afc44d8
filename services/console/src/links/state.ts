import type { Link } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'

export type State = 'on' | 'off' | 'expired'
export const TONES: Record<State, Tone> = { on: 'good', off: 'neutral', expired: 'warn' }

/** Returns whether a link leads anywhere, and why not. */
export function stateOf({ active, expiresAt }: Pick<Link, 'active' | 'expiresAt'>, now = Date.now()): State {
  if (!active) return 'off'
  return expiresAt !== null && new Date(expiresAt).getTime() <= now ? 'expired' : 'on'
}
