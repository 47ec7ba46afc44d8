import { Skeleton } from '@mantine/core'
import type { Sender } from '@rollcall/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { TONES } from '../domains/status.ts'
import { StatusChip } from '../kit/status-chip.tsx'
import { useMissing } from '../session.ts'

const ALL = 1000

/** The domains that nothing is sent from, except by connected mail accounts. */
const unverifiedQuery = queryOptions({
  queryKey: ['domains', 'unverified'],
  queryFn: async ({ signal }) => {
    const filter = { status: { $ne: 'verified' } } as const
    return (await rollcall.domains.list({ filter, projection: { domain: 1, status: 1 }, limit: ALL }, { signal })).docs
  },
})

/** Whether mail can be sent from a sender, as a chip; as far as the person may read the domains. */
export function SenderStatus({
  sender: { active, oauth, delivery, domain },
}: {
  sender: Pick<Sender, 'active' | 'oauth' | 'delivery' | 'domain'>
}) {
  const { t } = useTranslation()
  const isAsked = active && delivery !== 'oauth'
  const mayRead = !useMissing()('domains.list')
  const { data: unverified, isLoading } = useQuery({ ...unverifiedQuery, enabled: isAsked && mayRead })
  const status = isAsked && unverified?.find(each => each.domain === domain)?.status
  if (oauth?.status === 'expired') return <StatusChip tone="bad">{t('senders.expired')}</StatusChip>
  if (oauth?.status === 'pending') return <StatusChip tone="warn">{t('senders.connect')}</StatusChip>
  if (isLoading) return <Skeleton height={20} width={70} />
  if (status && status !== 'verified')
    return <StatusChip tone={TONES[status]}>{t(`senders.domain.${status}`)}</StatusChip>
  return <StatusChip tone={active ? 'good' : 'neutral'}>{t(active ? 'senders.active' : 'senders.inactive')}</StatusChip>
}
