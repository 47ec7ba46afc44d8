import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { Conditions } from '../kit/list-search.ts'
import classes from './filter-editor.module.css'
import { MatchCount } from './match-count.tsx'
import { useRuleFields } from './rule-fields.ts'
import {
  fromFilter,
  isComplete,
  newGroup,
  newRule,
  type RuleField,
  type RuleGroup,
  rulesOf,
  toFilter,
} from './rules.ts'

const FilterBuilder = lazy(async () => ({ default: (await import('./filter-builder.tsx')).FilterBuilder }))

/** A filter that is being edited. `group` is undefined until the fields are known, and for a filter that no rules say. */
export type Draft = { group?: RuleGroup; filter: Conditions; isComplete: boolean }

/** Returns the draft of a filter that stands as it is. */
export function draftOf(filter: Conditions): Draft {
  return { filter, isComplete: true }
}

/** Returns the rules with one more for a field; without a field, rules that are none begin with one. */
function withRule(group: RuleGroup, fields: readonly RuleField[], added: string | undefined): RuleGroup {
  const isEmpty = group.rules.length === 0
  const field = fields.find(({ name }) => name === added) ?? (isEmpty ? fields[0] : undefined)
  if (!field) return group
  const before = isEmpty || group.join === 'and' ? group.rules : [group]
  return newGroup([...before, newRule(field)])
}

/** Edits a filter of contacts by rules, and says how many contacts match. */
export function FilterEditor({
  draft,
  added,
  onChange,
}: {
  draft: Draft
  /** Field of a rule that the filter gets at once. */
  added?: string | undefined
  onChange: (draft: Draft) => void
}) {
  const { t } = useTranslation()
  const fields = useRuleFields()
  if (!fields) return <Skeleton height={120} />
  const read = draft.group ?? fromFilter(draft.filter, fields)
  const group = read && !draft.group ? withRule(read, fields, added) : read
  return (
    <div className={classes.editor}>
      {group ? (
        <Suspense fallback={<Skeleton height={120} />}>
          <FilterBuilder
            group={group}
            fields={fields}
            count={rulesOf(group).length}
            onChange={group =>
              onChange({ group, filter: toFilter(group), isComplete: rulesOf(group).every(isComplete) })
            }
          />
        </Suspense>
      ) : (
        <>
          <p className={classes.note}>{t('contacts.rules.notByRules')}</p>
          <pre className={classes.json}>{JSON.stringify(draft.filter, null, 2)}</pre>
        </>
      )}
      <MatchCount filter={draft.filter} isKnown={draft.isComplete} />
    </div>
  )
}
