import { Button, Group, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.ts'
import { useRefusal } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { useMe } from '../session.ts'
import classes from './account.module.css'
import { changesOf, choicesOf, type ProfileValues } from './profile-values.ts'

/** Shown at once; more are found by typing. */
const CHOICES = 50

/** The form of the own profile. A new language changes that of the console too, if it has it. */
export function Profile() {
  const save = async (changes: ProfileValues) => {
    await rollcall.account.update(changes)
    if (changes.language && changes.language in LANGUAGES) await chooseLanguage(changes.language as Language)
  }
  return <ProfileForm profile={useMe().user} call="account.update" save={save} />
}

/** The form of a profile: the own one, or another user's. */
export function ProfileForm({
  profile: { name, language, timezone, country, currency },
  call,
  unless,
  save,
}: {
  profile: { name: string } & Record<'language' | 'timezone' | 'country' | 'currency', string | null>
  call: 'account.update' | 'users.update'
  /** Why it cannot be saved for another reason than a permission. */
  unless?: string | undefined
  save: (changes: ProfileValues) => Promise<unknown>
}) {
  const { t } = useTranslation()
  const refusal = useRefusal()(call) ?? unless
  const form = useForm({ initialValues: { name, language, timezone, country: country ?? '', currency } })
  const submit = useSubmit(form, {
    send: values => save(changesOf(form.getInitialValues(), values)),
    done: t('kit.saved'),
  })
  useUnsaved(form.isDirty)
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label: label as string }))
  if (language && !(language in LANGUAGES)) languages.push({ value: language, label: language })
  return (
    <div className={classes.form}>
      <SubmitForm form={form} submit={submit}>
        <TextInput
          label={t('kit.field.name')}
          name="name"
          autoComplete={call === 'account.update' ? 'name' : 'off'}
          required
          withAsterisk={false}
          {...fieldProps(call, 'name')}
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
            autoComplete={call === 'account.update' ? 'country' : 'off'}
            {...fieldProps(call, 'country')}
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
