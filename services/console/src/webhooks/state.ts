import type { Delivery, Webhook } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'

/** What an endpoint is, in one word. */
export type State = 'on' | 'failing' | 'off' | 'stopped' | 'gone'

export const TONES: Record<State, Tone> = { on: 'good', failing: 'warn', off: 'neutral', stopped: 'bad', gone: 'bad' }
export const DELIVERY_TONES: Record<Delivery['state'], Tone> = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  discarded: 'neutral',
}

/** Returns the state of an endpoint: why it is off, or whether its attempts fail. */
export function stateOf({
  active,
  disabledReason,
  failingSince,
}: Pick<Webhook, 'active' | 'disabledReason' | 'failingSince'>): State {
  if (active) return failingSince ? 'failing' : 'on'
  if (disabledReason === 'failing') return 'stopped'
  return disabledReason === 'gone' ? 'gone' : 'off'
}
