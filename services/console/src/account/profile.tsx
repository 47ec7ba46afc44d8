import { Button, Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.ts'
import { useRefusal } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { useMe } from '../session.ts'
import classes from './account.module.css'
import { changesOf, choicesOf } from './profile-values.ts'

/** Shown at once; more are found by typing. */
const CHOICES = 50

/** The form of the own profile. A new language changes that of the console too, if it has it. */
export function Profile() {
  const { t } = useTranslation()
  const { name, language, timezone, country, currency } = useMe().user
  const refusal = useRefusal()('account.update')
  const initialValues = { name, language, timezone, country: country ?? '', currency }
  const form = useForm({ initialValues })
  const submit = useSubmit(form, {
    send: async values => {
      await rollcall.account.update(changesOf(form.getInitialValues(), values))
      if (values.language && values.language in LANGUAGES) await chooseLanguage(values.language as Language)
      form.setInitialValues(values)
      form.resetDirty(values)
    },
    done: t('kit.saved'),
  })
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label: label as string }))
  if (language && !(language in LANGUAGES)) languages.push({ value: language, label: language })
  return (
    <div className={classes.form}>
      <SubmitForm form={form} submit={submit}>
        <TextInput
          label={t('kit.field.name')}
          name="name"
          autoComplete="name"
          required
          withAsterisk={false}
          {...fieldProps('account.update', 'name')}
          {...form.getInputProps('name')}
        />
        <Select
          label={t('shell.language')}
          clearable
          clearButtonProps={{ 'aria-label': t('account.profile.clear') }}
          data={languages}
          {...form.getInputProps('language')}
        />
        <Select
          label={t('account.profile.timezone')}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': t('account.profile.clear') }}
          limit={CHOICES}
          nothingFoundMessage={t('kit.table.nothing')}
          data={choicesOf([...Intl.supportedValuesOf('timeZone'), 'UTC'], timezone)}
          {...form.getInputProps('timezone')}
        />
        <Group grow align="flex-start">
          <TextInput
            label={t('account.profile.country')}
            description={t('account.profile.countryHint')}
            name="country"
            autoComplete="country"
            {...fieldProps('account.update', 'country')}
            {...form.getInputProps('country')}
          />
          <Select
            label={t('account.profile.currency')}
            description={t('account.profile.currencyHint')}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('account.profile.clear') }}
            limit={CHOICES}
            nothingFoundMessage={t('kit.table.nothing')}
            data={choicesOf(Intl.supportedValuesOf('currency'), currency)}
            {...form.getInputProps('currency')}
          />
        </Group>
        <Group>
          <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal) || !form.isDirty()}>
            {t('account.profile.save')}
          </Button>
        </Group>
      </SubmitForm>
    </div>
  )
}
