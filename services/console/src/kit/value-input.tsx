import { NumberInput, type NumberInputProps, Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
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
      return <DecimalInput {...common} value={value} onChange={onChange} />
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

type DecimalInputProps = Omit<NumberInputProps, 'value' | 'onChange'> & {
  value: unknown
  onChange: (value: number | undefined) => void
}

/** An input of a number. It keeps what is typed, such as `19.50`, as long as that stands for the value. */
function DecimalInput({ value, onChange, ...props }: DecimalInputProps) {
  const [typed, setTyped] = useState<string | number>('')
  const shown = numberOf(typed) === value ? typed : (value as number)
  const change = (entered: string | number) => {
    setTyped(entered)
    onChange(numberOf(entered))
  }
  return <NumberInput {...props} value={shown} onChange={change} />
}

function numberOf(typed: string | number): number | undefined {
  const number = Number(typed)
  return typed === '' || Number.isNaN(number) ? undefined : number
}
