import type { Message } from '@rollcall/sdk'
import type { ChipFields } from '../kit/filter-chips.ts'
import type { Tone } from '../kit/status-chip.tsx'

export const TONES: Record<Message['status'], Tone> = {
  scheduled: 'info',
  queued: 'info',
  sent: 'neutral',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  cancelled: 'neutral',
  suppressed: 'warn',
}
export const STATUSES = Object.keys(TONES) as Message['status'][]
export const KINDS = ['transactional', 'campaign', 'test'] as const satisfies Message['kind'][]

/** What messages can be filtered by. */
export const MESSAGE_CHIPS = {
  status: 'status',
  kind: 'kind',
  when: { timeOf: 'createdAt' },
} as const satisfies ChipFields<string>
