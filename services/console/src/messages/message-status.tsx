import type { Message } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { StatusChip } from '../kit/status-chip.tsx'
import { TONES } from './status.ts'

/** How far a message got, as a chip. */
export function MessageStatus({ status }: Pick<Message, 'status'>) {
  const { t } = useTranslation()
  return <StatusChip tone={TONES[status]}>{t(`messages.status.${status}`)}</StatusChip>
}
