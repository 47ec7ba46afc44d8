import { useTranslation } from 'react-i18next'
import type { FilterChoice, SetFilter } from './filter-bar.tsx'
import { type ChipFields, chipsOf, rangeOf, withChip, without } from './filter-chips.ts'
import type { ListView } from './use-list.ts'

const REST = 'rest'

/** Returns what a filter bar shows of the filter in the address, and how it changes that. */
export function useFilterChips<Name extends string>(
  fields: ChipFields<Name>,
  { search: { filter = {} }, change }: Pick<ListView<unknown>, 'search' | 'change'>,
  {
    choices,
    labelOf = name => choices.find(choice => choice.name === name)?.label ?? '',
    textOf = (_name, value) => value,
  }: {
    choices: readonly FilterChoice[]
    /** Names a chip that no choice makes. */
    labelOf?: (name: Name) => string
    /** Names a value that no choice offers. */
    textOf?: (name: Name, value: string) => string
  },
): {
  chips: SetFilter[]
  onSet: (name: string, value: string | undefined) => void
  onClear: () => void
} {
  const { t } = useTranslation()
  const timeText = useTimeText()
  const { chips, rest } = chipsOf(fields, filter)
  const valueText = (name: Name, value: string) =>
    choices.find(choice => choice.name === name)?.options.find(option => option.value === value)?.label ??
    (typeof fields[name] === 'string' ? textOf(name, value) : timeText(value))
  const shown = chips.map(({ name, value }) => ({ name, label: labelOf(name), text: valueText(name, value) }))
  const other = { name: REST, label: '', text: t('kit.filter.other', { count: rest.length }) }
  return {
    chips: rest.length > 0 ? [...shown, other] : shown,
    onSet: (name, value) =>
      change({ filter: name === REST ? without(filter, rest) : withChip(fields, filter, name as Name, value) }),
    onClear: () => change({ filter: undefined, q: undefined }),
  }
}

function useTimeText(): (value: string) => string {
  const { t, i18n } = useTranslation()
  const day = (at: string) => new Date(at).toLocaleDateString(i18n.language, { dateStyle: 'medium' })
  return value => {
    const range = rangeOf(value)
    if (!range) return t('kit.filter.days', { count: Number(value) })
    const [from, to] = [range.from && day(range.from), range.to && day(range.to)]
    if (from && to) return from === to ? from : `${from} – ${to}`
    return from ? t('kit.filter.since', { day: from }) : t('kit.filter.until', { day: to })
  }
}
