import type { Contact } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'
import type { Status } from './conditions.ts'

export const TONES: Record<Status, Tone> = {
  subscribed: 'good',
  unsubscribed: 'neutral',
  blocked: 'bad',
  bounced: 'warn',
  complained: 'bad',
}

/** Returns what counts most for sending to a contact. */
export function statusOf({
  blocked,
  unsubscribed,
  emailStatus,
}: Pick<Contact, 'blocked' | 'unsubscribed' | 'emailStatus'>): Status {
  if (blocked) return 'blocked'
  if (emailStatus === 'complained' || emailStatus === 'bounced') return emailStatus
  return unsubscribed ? 'unsubscribed' : 'subscribed'
}
