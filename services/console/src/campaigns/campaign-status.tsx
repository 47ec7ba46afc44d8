import type { Campaign } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { sharesOf, TONES } from './status.ts'

/** How far a campaign is, as a chip. */
export function CampaignStatus({ status }: Pick<Campaign, 'status'>) {
  const { t } = useTranslation()
  return <StatusChip tone={TONES[status]}>{t(`campaigns.status.${status}`)}</StatusChip>
}

/** What became of the recipients of a campaign, as a bar. */
export function CampaignBar({ counts, isCompact }: Pick<Campaign, 'counts'> & { isCompact?: boolean }) {
  const { t } = useTranslation()
  const parts = sharesOf(counts).map(share => ({ ...share, label: t(`campaigns.counts.${share.name}`) }))
  return <OutcomeBar parts={parts} total={counts.recipients} isCompact={isCompact ?? false} />
}
