import { Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core'
import type { CollectionField } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import type { FormDraft } from './form-draft.ts'
import classes from './form-tab.module.css'

/** What the page of a form shows, as it is edited. For eyes only: nothing in it can be used. */
export function FormPreview({ fields, draft }: { fields: readonly CollectionField[]; draft: FormDraft }) {
  const { t } = useTranslation()
  return (
    <div className={draft.enabled ? classes.preview : `${classes.preview} ${classes.closed}`} inert aria-hidden>
      <h3>{draft.title}</h3>
      {fields.map(field => (
        <PreviewField key={field.slug} field={field} />
      ))}
      <div>
        <Button tabIndex={-1}>{draft.submitLabel || t('collections.form.submit')}</Button>
      </div>
    </div>
  )
}

function PreviewField({ field: { name, type, required, options } }: { field: CollectionField }) {
  const common = { label: name, required, readOnly: true }
  if (type === 'boolean') return <Checkbox label={name} readOnly />
  if (type === 'enum') return <Select label={name} required={required} data={options} />
  if (type === 'text') return <Textarea {...common} minRows={3} rows={3} />
  return <TextInput {...common} type={type === 'date' || type === 'number' ? type : 'text'} />
}
