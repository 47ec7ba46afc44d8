import { useTranslation } from 'react-i18next'
import { useRuleFields } from '../contacts/rule-fields.ts'
import {
  fromFilter,
  inputOf,
  isGroup,
  type Rule,
  type RuleField,
  type RuleGroup,
  rulesOf,
  type Span,
} from '../contacts/rules.ts'
import type { Conditions } from '../kit/list-search.ts'
import classes from './segment.module.css'

/** Says a filter of contacts in words; as JSON where no rules say it. */
export function FilterSentence({ filter }: { filter: Conditions }) {
  const { t } = useTranslation()
  const fields = useRuleFields()
  if (Object.keys(filter).length === 0) return t('segments.everyone')
  if (!fields) return null
  const group = fromFilter(filter, fields)
  if (!group) return <span className={classes.code}>{JSON.stringify(filter)}</span>
  return (
    <span className={classes.sentence}>
      <GroupWords group={group} fields={fields} />
    </span>
  )
}

/** Says a condition of a field in words, without the field; as JSON where no rules say it. */
export function ConditionWords({ field: name, condition }: { field: string; condition: unknown }) {
  const { t } = useTranslation()
  const textOf = useValueText()
  const fields = useRuleFields()
  const field = fields?.find(each => each.name === name)
  if (!fields) return '…'
  const group = field && fromFilter({ [name]: condition }, [field])
  if (!field || !group) return <span className={classes.code}>{JSON.stringify(condition)}</span>
  const words = rulesOf(group).map(rule => `${t(`contacts.operators.${rule.operator}`)} ${textOf(rule, field)}`.trim())
  return words.join(` ${t('contacts.rules.and')} `)
}

function GroupWords({ group, fields }: { group: RuleGroup; fields: readonly RuleField[] }) {
  const { t } = useTranslation()
  return group.rules.map((entry, index) => (
    <span key={entry.id} className={classes.sentence}>
      {index > 0 && <span className={classes.join}>{t(`contacts.rules.${group.join}`)}</span>}
      {isGroup(entry) ? (
        <>
          <span className={classes.join}>{'('}</span>
          <GroupWords group={entry} fields={fields} />
          <span className={classes.join}>{')'}</span>
        </>
      ) : (
        <RuleWords rule={entry} field={fields.find(({ name }) => name === entry.field)!} />
      )}
    </span>
  ))
}

function RuleWords({ rule, field }: { rule: Rule; field: RuleField }) {
  const text = useValueText()(rule, field)
  const { t } = useTranslation()
  return (
    <span>
      {`${field.label} ${t(`contacts.operators.${rule.operator}`)}`}
      {text && <span className={classes.value}>{` ${text}`}</span>}
    </span>
  )
}

function useValueText() {
  const { t, i18n } = useTranslation()
  return ({ operator, value }: Rule, { options = [] }: RuleField): string => {
    const labelOf = (each: string) => options.find(option => option.value === each)?.label ?? each
    switch (inputOf(operator)) {
      case 'none':
        return ''
      case 'truth':
        return t(value ? 'kit.yes' : 'kit.no')
      case 'span': {
        const { count, unit } = value as Span
        return t(`contacts.rules.spans.${unit}`, { count })
      }
      case 'day':
        return new Date(String(value)).toLocaleDateString(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' })
      case 'number':
        return Number(value).toLocaleString(i18n.language)
      default:
        return Array.isArray(value) ? value.map(labelOf).join(', ') : labelOf(String(value))
    }
  }
}
