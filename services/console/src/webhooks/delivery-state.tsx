import { Group } from '@mantine/core'
import type { Delivery } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { StatusChip, Tag } from '../kit/status-chip.tsx'
import { DELIVERY_TONES } from './state.ts'

/** How a delivery ended so far, as a chip; and whether it was a test. */
export function DeliveryState({ delivery: { state, test } }: { delivery: Pick<Delivery, 'state' | 'test'> }) {
  const { t } = useTranslation()
  return (
    <Group gap={6} wrap="nowrap">
      <StatusChip tone={DELIVERY_TONES[state]}>{t(`webhooks.deliveries.state.${state}`)}</StatusChip>
      {test && <Tag>{t('webhooks.deliveries.test')}</Tag>}
    </Group>
  )
}
