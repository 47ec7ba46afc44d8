import { ActionIcon, Button, Checkbox, Group, Input, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { ChevronDownIcon, ChevronUpIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { slugOf } from '../attributes/slug.ts'
import { ValueInput } from '../kit/value-input.tsx'
import classes from './field-editor.module.css'
import { canBeUnique, type FieldDraft, moved, newDraft, TYPES } from './fields.ts'

const MAX_FIELDS = 50

/** Edits the fields of a collection. Once there are entries, stored fields keep their key and type. */
export function FieldEditor({
  fields,
  onChange,
  errors,
  isFixed,
}: {
  fields: readonly FieldDraft[]
  onChange: (fields: FieldDraft[]) => void
  /** Refusals by path: `fields`, `fields.0.slug`. */
  errors: Readonly<Record<string, ReactNode>>
  isFixed: boolean
}) {
  const { t } = useTranslation()
  return (
    <Stack gap="sm">
      <div>
        <Text fw={550}>{t('collections.fields')}</Text>
        {isFixed && (
          <Text size="sm" c="dimmed">
            {t('collections.field.fixed')}
          </Text>
        )}
        {errors.fields && <Input.Error role="alert">{errors.fields}</Input.Error>}
      </div>
      {fields.map((field, position) => (
        <Field
          key={field.key}
          field={field}
          number={position + 1}
          isFixed={isFixed && field.isStored}
          errorOf={name => errors[`fields.${position}.${name}`]}
          onChange={change => onChange(fields.map(other => (other === field ? { ...field, ...change } : other)))}
          {...(position > 0 && { onUp: () => onChange(moved(fields, position, -1)) })}
          {...(position < fields.length - 1 && { onDown: () => onChange(moved(fields, position, 1)) })}
          {...(fields.length > 1 && { onRemove: () => onChange(fields.filter(other => other !== field)) })}
        />
      ))}
      {fields.length < MAX_FIELDS && (
        <div>
          <Button
            variant="default"
            leftSection={<PlusIcon size={14} />}
            onClick={() => onChange([...fields, newDraft()])}
          >
            {t('collections.field.add')}
          </Button>
        </div>
      )}
    </Stack>
  )
}

function Field({
  field,
  number,
  isFixed,
  errorOf,
  onChange,
  onUp,
  onDown,
  onRemove,
}: {
  field: FieldDraft
  number: number
  isFixed: boolean
  errorOf: (name: string) => ReactNode
  onChange: (change: Partial<FieldDraft>) => void
  onUp?: () => void
  onDown?: () => void
  onRemove?: () => void
}) {
  const { t } = useTranslation()
  const { slug, name, type, options, required, unique } = field
  const title = name || t('collections.field.number', { number })
  return (
    <fieldset className={classes.field} aria-label={title}>
      <div className={classes.row}>
        <TextInput
          label={t('kit.field.name')}
          aria-label={t('collections.field.name')}
          required
          maxLength={100}
          error={errorOf('name')}
          value={name}
          onChange={event => onChange({ name: event.currentTarget.value })}
        />
        <TextInput
          label={t('collections.slug')}
          aria-label={t('collections.field.slug')}
          maxLength={40}
          placeholder={slugOf(name)}
          disabled={isFixed}
          error={errorOf('slug')}
          value={slug}
          onChange={event => onChange({ slug: event.currentTarget.value })}
        />
        <Select
          label={t('kit.field.type')}
          aria-label={t('collections.field.type')}
          allowDeselect={false}
          disabled={isFixed}
          error={errorOf('type')}
          data={TYPES.map(value => ({ value, label: t(`collections.types.${value}`) }))}
          value={type}
          onChange={value => onChange({ type: value as FieldDraft['type'], default: undefined })}
        />
      </div>
      {type === 'enum' && (
        <TagsInput
          label={t('collections.field.options')}
          description={t('collections.field.optionsHint')}
          error={errorOf('options')}
          value={options}
          onChange={next => onChange({ options: next })}
        />
      )}
      <Group gap="md" align="flex-end">
        <div className={classes.default}>
          <ValueInput
            field={{ name: t('collections.field.default'), type, options }}
            value={field.default}
            onChange={value => onChange({ default: value as FieldDraft['default'] })}
            error={errorOf('default')}
          />
        </div>
        <Checkbox
          label={t('collections.field.required')}
          checked={required}
          onChange={event => onChange({ required: event.currentTarget.checked })}
        />
        <Checkbox
          label={t('collections.field.unique')}
          disabled={(isFixed && !unique) || !canBeUnique(field)}
          error={errorOf('unique')}
          checked={unique && canBeUnique(field)}
          onChange={event => onChange({ unique: event.currentTarget.checked })}
        />
        <Group gap={4} ml="auto">
          {onUp && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('collections.field.up', { name: title })}
              onClick={onUp}
            >
              <ChevronUpIcon />
            </ActionIcon>
          )}
          {onDown && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('collections.field.down', { name: title })}
              onClick={onDown}
            >
              <ChevronDownIcon />
            </ActionIcon>
          )}
          {onRemove && !isFixed && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('collections.field.remove', { name: title })}
              onClick={onRemove}
            >
              <TrashIcon />
            </ActionIcon>
          )}
        </Group>
      </Group>
    </fieldset>
  )
}
