import { SegmentedControl, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Feature } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { slugOf } from '../attributes/slug.ts'
import { useRefusal } from '../kit/action.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { rolesQuery } from '../roles/queries.ts'
import { changedFeature, type RoleValue, valuesOfFeature } from './feature-values.ts'
import classes from './settings.module.css'

/** Creates a feature, or changes one. */
export function FeatureForm({ feature, onClose }: { feature?: Feature; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: valuesOfFeature(feature) })
  const { name, roles } = form.values
  const submit = useSubmit(form, {
    send: (values): Promise<unknown> => {
      const changed = changedFeature(form.getInitialValues(), values)
      if (feature) return rollcall.features.update(feature._id, changed)
      return rollcall.features.create({ ...changed, slug: values.slug || slugOf(values.name) })
    },
    done: t('settings.features.saved', { name }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t(feature ? 'settings.features.edit' : 'settings.features.new')}
      form={form}
      submit={submit}
      action={t(feature ? 'kit.save' : 'kit.create')}
      onClose={onClose}
      isIncomplete={feature !== undefined && !form.isDirty()}
    >
      <TextInput
        label={t('kit.field.name')}
        data-autofocus
        required
        {...fieldProps('features.create', 'name')}
        {...form.getInputProps('name')}
      />
      {!feature && (
        <TextInput
          label={t('settings.features.slug')}
          description={t('settings.features.slugHint')}
          placeholder={slugOf(name)}
          maxLength={40}
          {...form.getInputProps('slug')}
        />
      )}
      <Textarea
        label={t('kit.field.description')}
        autosize
        minRows={2}
        {...fieldProps('features.create', 'description')}
        {...form.getInputProps('description')}
      />
      <Switch label={t('settings.features.onByDefault')} {...form.getInputProps('default', { type: 'checkbox' })} />
      <RoleValues values={roles} onChange={(role, value) => form.setFieldValue('roles', { ...roles, [role]: value })} />
    </FormModal>
  )
}

function RoleValues({
  values,
  onChange,
}: {
  values: Readonly<Record<string, RoleValue>>
  onChange: (role: string, value: RoleValue) => void
}) {
  const { t } = useTranslation()
  const refusal = useRefusal()('roles.list')
  const { data: listed = [] } = useQuery({ ...rolesQuery, enabled: !refusal })
  const names = listed.filter(({ kind }) => kind !== 'api').map(({ name }) => name)
  const options = (['default', 'on', 'off'] as const).map(value => ({
    value,
    label: t(`settings.features.roleValues.${value}`),
  }))
  return (
    <fieldset className={classes.roles}>
      <legend>{t('settings.features.roles')}</legend>
      <Text size="sm" c="dimmed">
        {refusal ?? t('settings.features.rolesHint')}
      </Text>
      {[...new Set([...names, ...Object.keys(values)])].map(role => (
        <div key={role} className={classes.role}>
          <span>{role}</span>
          <SegmentedControl
            size="xs"
            aria-label={role}
            data={options}
            value={values[role] ?? 'default'}
            onChange={value => onChange(role, value as RoleValue)}
          />
        </div>
      ))}
    </fieldset>
  )
}
