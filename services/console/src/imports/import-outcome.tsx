import { Group, Text } from '@mantine/core'
import type { ImportJob, ImportResult } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { partsOf } from './outcome.ts'

/** What became of the rows of an import: as a bar with the numbers below, or if compact beside the number that failed. */
export function ImportOutcome({
  kind,
  result,
  isCompact = false,
}: {
  kind: ImportJob['kind']
  result: ImportResult
  isCompact?: boolean
}) {
  const { t } = useTranslation()
  const parts = partsOf(kind, result).map(({ name, ...part }) => ({ ...part, label: t(`imports.outcomes.${name}`) }))
  const bar = <OutcomeBar parts={parts} total={result.total} isCompact={isCompact} />
  if (!isCompact || result.failed === 0) return bar
  return (
    <Group gap="xs" wrap="nowrap">
      {bar}
      <Text span size="xs" c="dimmed" aria-hidden>
        {t('imports.failedRows', { count: result.failed })}
      </Text>
    </Group>
  )
}
