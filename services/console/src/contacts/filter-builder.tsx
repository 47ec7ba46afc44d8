import {
  ActionIcon,
  Button,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import classes from './filter-builder.module.css'
import { tagsQuery } from './queries.ts'
import {
  inputOf,
  isGroup,
  MAX_DEPTH,
  MAX_PATTERN_TEXT,
  MAX_RULES,
  newGroup,
  newRule,
  type OperatorName,
  operatorsOf,
  type Rule,
  type RuleField,
  type RuleGroup,
  type RuleValue,
  type Span,
  withOperator,
} from './rules.ts'

const OFFERED_TAGS = 500
const ATTRIBUTE = 'attributes.'

/** Edits the rules of a filter of contacts. */
export function FilterBuilder({
  group,
  fields,
  count,
  onChange,
}: {
  group: RuleGroup
  fields: readonly RuleField[]
  /** Rules of the whole filter. */
  count: number
  onChange: (group: RuleGroup) => void
}) {
  return <Group group={group} depth={1} fields={fields} isFull={count >= MAX_RULES} onChange={onChange} />
}

type GroupProps = {
  group: RuleGroup
  depth: number
  fields: readonly RuleField[]
  isFull: boolean
  onChange: (group: RuleGroup) => void
  onRemove?: () => void
}

function Group({ group, depth, fields, isFull, onChange, onRemove }: GroupProps) {
  const { t } = useTranslation()
  const change = (rules: RuleGroup['rules']) => onChange({ ...group, rules })
  const replace = (entry: Rule | RuleGroup) => change(group.rules.map(each => (each.id === entry.id ? entry : each)))
  const remove = (id: number) => change(group.rules.filter(each => each.id !== id))
  const add = (entry: Rule | RuleGroup) => change([...group.rules, entry])
  const first = fields[0]!
  return (
    <fieldset className={classes.group} data-nested={depth > 1 || undefined}>
      <legend className="rc-hidden">{t('contacts.rules.group')}</legend>
      <div className={classes.head}>
        <span>{t('contacts.rules.match')}</span>
        <SegmentedControl
          size="xs"
          aria-label={t('contacts.rules.join')}
          data={[
            { value: 'and', label: t('contacts.rules.all') },
            { value: 'or', label: t('contacts.rules.any') },
          ]}
          value={group.join}
          onChange={join => onChange({ ...group, join: join as RuleGroup['join'] })}
        />
        <span>{t('contacts.rules.ofThese')}</span>
        {onRemove && (
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.remove}
            aria-label={t('contacts.rules.removeGroup')}
            onClick={onRemove}
          >
            <XIcon />
          </ActionIcon>
        )}
      </div>
      {group.rules.map(entry =>
        isGroup(entry) ? (
          <Group
            key={entry.id}
            group={entry}
            depth={depth + 1}
            fields={fields}
            isFull={isFull}
            onChange={replace}
            onRemove={() => remove(entry.id)}
          />
        ) : (
          <RuleRow key={entry.id} rule={entry} fields={fields} onChange={replace} onRemove={() => remove(entry.id)} />
        ),
      )}
      <div className={classes.add}>
        <Button
          variant="default"
          size="xs"
          leftSection={<PlusIcon size={12} />}
          disabled={isFull}
          onClick={() => add(newRule(first))}
        >
          {t('contacts.rules.add')}
        </Button>
        {depth < MAX_DEPTH && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            disabled={isFull}
            onClick={() => add(newGroup([newRule(first)], group.join === 'and' ? 'or' : 'and'))}
          >
            {t('contacts.rules.addGroup')}
          </Button>
        )}
      </div>
    </fieldset>
  )
}

function RuleRow({
  rule,
  fields,
  onChange,
  onRemove,
}: {
  rule: Rule
  fields: readonly RuleField[]
  onChange: (rule: Rule) => void
  onRemove: () => void
}) {
  const { t } = useTranslation()
  const field = fields.find(({ name }) => name === rule.field)!
  const isAttribute = ({ name }: RuleField) => name.startsWith(ATTRIBUTE)
  const choices = (of: readonly RuleField[]) => of.map(({ name, label }) => ({ value: name, label }))
  const attributes = fields.filter(isAttribute)
  return (
    <div className={classes.rule}>
      <Select
        searchable
        allowDeselect={false}
        className={classes.field}
        aria-label={t('contacts.rules.field')}
        comboboxProps={{ width: 240, position: 'bottom-start' }}
        data={[
          { group: t('contacts.rules.contact'), items: choices(fields.filter(each => !isAttribute(each))) },
          ...(attributes.length > 0 ? [{ group: t('contacts.attributes'), items: choices(attributes) }] : []),
        ]}
        value={rule.field}
        onChange={name => {
          const chosen = fields.find(each => each.name === name)
          if (chosen && name !== rule.field) onChange({ ...newRule(chosen), id: rule.id })
        }}
      />
      <Select
        allowDeselect={false}
        className={classes.operator}
        aria-label={t('contacts.rules.operator')}
        comboboxProps={{ width: 200, position: 'bottom-start' }}
        data={operatorsOf(field).map(value => ({ value, label: t(`contacts.operators.${value}`) }))}
        value={rule.operator}
        onChange={operator => onChange(withOperator(rule, operator as OperatorName))}
      />
      <div className={classes.value}>
        <ValueInput
          field={field}
          operator={rule.operator}
          value={rule.value}
          onChange={value => onChange({ ...rule, value })}
        />
      </div>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('contacts.rules.remove', { name: field.label })}
        onClick={onRemove}
      >
        <XIcon />
      </ActionIcon>
    </div>
  )
}

function ValueInput({
  field,
  operator,
  value,
  onChange,
}: {
  field: RuleField
  operator: OperatorName
  value: RuleValue
  onChange: (value: RuleValue) => void
}) {
  const { t } = useTranslation()
  const common = { 'aria-label': t('contacts.rules.value', { name: field.label }) }
  const options = [...(field.options ?? [])]
  const texts = Array.isArray(value) ? (value as string[]) : []
  const text = typeof value === 'string' ? value : ''
  switch (inputOf(operator)) {
    case 'none':
      return null
    case 'number':
      return (
        <NumberInput {...common} hideControls value={typeof value === 'number' ? value : text} onChange={onChange} />
      )
    case 'truth':
      return (
        <Select
          {...common}
          allowDeselect={false}
          data={[
            { value: 'true', label: t('kit.yes') },
            { value: 'false', label: t('kit.no') },
          ]}
          value={String(value)}
          onChange={chosen => onChange(chosen === 'true')}
        />
      )
    case 'day':
      return <TextInput {...common} type="date" value={text} onChange={event => onChange(event.currentTarget.value)} />
    case 'span':
      return <SpanInput label={common['aria-label']} value={value as Span} onChange={onChange} />
    case 'option':
      return (
        <Select
          {...common}
          searchable
          data={options}
          value={text || null}
          onChange={chosen => onChange(chosen ?? '')}
        />
      )
    case 'options':
      return (
        <MultiSelect
          {...common}
          searchable
          data={options}
          value={texts}
          onChange={onChange}
          {...(texts.length === 0 && { placeholder: t('contacts.rules.choose') })}
        />
      )
    case 'tags':
      return <KnownTags {...common} value={texts} onChange={onChange} />
    default:
      return (
        <TextInput
          {...common}
          value={text}
          maxLength={operator === 'contains' || operator === 'startsWith' ? MAX_PATTERN_TEXT : 200}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )
  }
}

function KnownTags({
  value,
  onChange,
  ...props
}: {
  'aria-label': string
  value: string[]
  onChange: (tags: string[]) => void
}) {
  const { t } = useTranslation()
  const { data: tags = [] } = useQuery(tagsQuery)
  return (
    <TagsInput
      {...props}
      data={tags.slice(0, OFFERED_TAGS).map(({ tag }) => tag)}
      splitChars={[',']}
      value={value}
      onChange={onChange}
      {...(value.length === 0 && { placeholder: t('contacts.rules.enterTags') })}
    />
  )
}

function SpanInput({ label, value, onChange }: { label: string; value: Span; onChange: (span: Span) => void }) {
  const { t } = useTranslation()
  return (
    <div className={classes.span}>
      <NumberInput
        aria-label={label}
        hideControls
        min={1}
        max={9999}
        allowDecimal={false}
        allowNegative={false}
        value={value.count || ''}
        onChange={count => onChange({ ...value, count: Number(count) || 0 })}
      />
      <Select
        aria-label={t('contacts.rules.unit')}
        allowDeselect={false}
        data={(['h', 'd', 'w'] as const).map(unit => ({ value: unit, label: t(`contacts.rules.units.${unit}`) }))}
        value={value.unit}
        onChange={unit => onChange({ ...value, unit: unit as Span['unit'] })}
      />
    </div>
  )
}
