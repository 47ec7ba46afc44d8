import { Skeleton } from '@mantine/core'
import { RollcallError } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { StatusChip } from '../kit/status-chip.tsx'

/** How many contacts match a segment now. */
export function SegmentCount({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const { data, error } = useQuery({
    queryKey: ['segments', id, 'count'],
    queryFn: async ({ signal }) => (await rollcall.segments.count(id, { signal })).count,
  })
  if (error instanceof RollcallError && error.code === 'segment.outdated')
    return <StatusChip tone="warn">{t('segments.outdated')}</StatusChip>
  if (error) return '–'
  if (data === undefined) return <Skeleton height={10} width={40} ml="auto" />
  return <span className="rc-tabular">{data.toLocaleString(i18n.language)}</span>
}
