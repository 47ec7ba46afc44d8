import { Group, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'

/** Permissions under a heading, as chips. */
export function Pairs({ title, pairs, tone }: { title: string; pairs: readonly string[]; tone: Tone }) {
  const { t } = useTranslation()
  return (
    <div>
      <Text fw={550} mb={4}>
        {title}
      </Text>
      {pairs.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('roles.nothing')}
        </Text>
      ) : (
        <Group gap={4}>
          {pairs.map(pair => (
            <StatusChip key={pair} tone={tone}>
              {pair}
            </StatusChip>
          ))}
        </Group>
      )}
    </div>
  )
}
