import type { ChipFields } from '../kit/filter-chips.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'discarded'] as const

/** What deliveries can be filtered by. */
export const DELIVERY_CHIPS = {
  state: 'state',
  type: 'event.type',
  created: { timeOf: 'createdAt' },
} as const satisfies ChipFields<string>
