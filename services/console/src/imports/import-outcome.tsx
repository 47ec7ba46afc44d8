import type { ImportJob, ImportResult } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { partsOf } from './outcome.ts'

/** What became of the rows of an import. */
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
  return <OutcomeBar parts={parts} total={result.total} isCompact={isCompact} />
}
