import { useDebouncedValue } from '@mantine/hooks'
import { PeopleIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import type { Conditions } from '../kit/list-search.ts'
import { useProblemText } from '../kit/problem.ts'
import classes from './filter-editor.module.css'

const PAUSE_MS = 400

/** Says how many contacts a filter matches, while it is edited. */
export function MatchCount({ filter, isKnown }: { filter: Conditions; isKnown: boolean }) {
  const { t, i18n } = useTranslation()
  const problemText = useProblemText()
  const [settled] = useDebouncedValue(JSON.stringify(filter), PAUSE_MS)
  const { data, error } = useQuery({
    queryKey: ['contacts', 'matching', settled],
    queryFn: async ({ signal }) =>
      (await rollcall.contacts.list({ filter: JSON.parse(settled), limit: 1 }, { signal })).totalDocs,
    enabled: isKnown,
    placeholderData: keepPreviousData,
  })
  return (
    <div className={classes.count} role="status">
      <PeopleIcon />
      {!isKnown && t('contacts.rules.incomplete')}
      {isKnown && error && <span className={classes.error}>{problemText(error)}</span>}
      {isKnown && !error && data !== undefined && (
        <span>
          <Trans
            i18nKey="contacts.rules.matching"
            count={data}
            values={{ number: data.toLocaleString(i18n.language) }}
            components={{ strong: <strong /> }}
          />
        </span>
      )}
    </div>
  )
}
