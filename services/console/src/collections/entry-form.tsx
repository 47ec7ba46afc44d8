import { Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Collection, Entry } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { ValueInput } from '../kit/value-input.tsx'

type Scalars = Record<string, string | number | boolean | null>

/** Adds or edits an entry, with an input for each field of its collection. */
export function EntryForm({
  collection: { _id, fields },
  entry,
  onClose,
}: {
  collection: Collection
  entry?: Entry
  onClose: () => void
}) {
  const { t } = useTranslation()
  const refusal = useRefusal()(entry ? 'entries.update' : 'entries.create')
  const known = fields.map(({ slug, default: value }) => [slug, entry ? entry.values[slug] : value] as const)
  const form = useForm({ initialValues: { values: Object.fromEntries(known) as Record<string, unknown> } })
  const submit = useSubmit(form, {
    send: ({ values }): Promise<unknown> => {
      const all = Object.fromEntries(Object.entries(values).map(([slug, value]) => [slug, value ?? null])) as Scalars
      if (!entry) return rollcall.entries.create(_id, { values: all })
      const before = form.getInitialValues().values
      const changed = Object.entries(all).filter(([slug, value]) => value !== (before[slug] ?? null))
      return rollcall.entries.update(_id, entry._id, { values: Object.fromEntries(changed) })
    },
    done: t(entry ? 'kit.saved' : 'collections.entry.added'),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t(entry ? 'collections.entry.edit' : 'collections.entry.add')}
      form={form}
      submit={submit}
      action={t(entry ? 'kit.save' : 'kit.add')}
      onClose={onClose}
      isIncomplete={Boolean(refusal)}
    >
      {refusal && <Text c="dimmed">{refusal}</Text>}
      {fields.map(({ slug, name, type, options, required }) => (
        <ValueInput
          key={slug}
          field={{ name, type, options }}
          required={required ?? false}
          value={form.values.values[slug]}
          onChange={value => form.setFieldValue(`values.${slug}`, value)}
          error={form.errors[`values.${slug}`]}
        />
      ))}
    </FormModal>
  )
}
