import type { ChipFields } from '../kit/filter-chips.ts'

/** Days back, for the chip of the time. */
export const PERIODS = ['1', '7', '30', '90'] as const
export const ACTOR_KINDS = ['user', 'token', 'import', 'workflow', 'system'] as const

/** What events can be filtered by. */
export const EVENT_CHIPS = {
  type: 'type',
  kind: 'subject.kind',
  who: 'actor.kind',
  when: { timeOf: 'at' },
  actor: 'actor.id',
  subject: 'subject.id',
  ip: 'ip',
  credential: 'credential.id',
} as const satisfies ChipFields<string>
export type EventChip = keyof typeof EVENT_CHIPS
