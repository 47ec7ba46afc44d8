import type { Contact } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { StatusChip } from '../kit/status-chip.tsx'
import { statusOf, TONES } from './status.ts'

/** Whether a contact can be sent to, as a chip. */
export function ContactStatus({ contact }: { contact: Contact }) {
  const { t } = useTranslation()
  const status = statusOf(contact)
  return <StatusChip tone={TONES[status]}>{t(`contacts.status.${status}`)}</StatusChip>
}
