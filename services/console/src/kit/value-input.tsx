import { NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** A field with a type: an attribute of contacts, or a field of a collection. */
export type TypedField = { name: string; type: string; options?: readonly string[] }

/** An input for the value of a field, by its type. */
export function ValueInput({
  field: { name, type, options = [] },
  value,
  onChange,
  error,
  required,
  isInline = false,
  rightSection,
}: {
  field: TypedField
  value: unknown
  onChange: (value: unknown) => void
  error?: React.ReactNode
  required?: boolean
  /** Without a label of its own, with the focus. */
  isInline?: boolean
  rightSection?: React.ReactNode
}) {
  const { t } = useTranslation()
  const common = {
    error,
    required: required ?? false,
    ...(isInline ? { 'aria-label': name, size: 'xs', autoFocus: true } : { label: name }),
    ...(rightSection && { rightSection }),
  }
  const text = typeof value === 'string' ? value : ''
  switch (type) {
    case 'number':
      return (
        <NumberInput
          {...common}
          value={value as number}
          onChange={number => onChange(number === '' ? undefined : number)}
        />
      )
    case 'boolean':
      return (
        <Select
          {...common}
          clearable
          data={[
            { value: 'true', label: t('kit.yes') },
            { value: 'false', label: t('kit.no') },
          ]}
          value={value === undefined || value === null ? null : String(value)}
          onChange={chosen => onChange(chosen === null ? undefined : chosen === 'true')}
        />
      )
    case 'enum':
      return (
        <Select
          {...common}
          clearable
          data={options}
          value={text || null}
          onChange={chosen => onChange(chosen ?? undefined)}
        />
      )
    case 'date':
      return (
        <TextInput
          {...common}
          type="date"
          value={text.slice(0, 10)}
          onChange={event => onChange(event.currentTarget.value || undefined)}
        />
      )
    case 'text':
      return (
        <Textarea
          {...common}
          autosize
          minRows={3}
          value={text}
          onChange={event => onChange(event.currentTarget.value || undefined)}
        />
      )
    default:
      return (
        <TextInput
          {...common}
          type={type === 'email' || type === 'url' ? type : 'text'}
          value={text}
          onChange={event => onChange(event.currentTarget.value || undefined)}
        />
      )
  }
}
