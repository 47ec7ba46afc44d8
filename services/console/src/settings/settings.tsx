import {
  Alert,
  Button,
  Group,
  NumberInput,
  Select,
  Skeleton,
  Stack,
  Switch,
  Tabs,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import type { OrganizationSettings } from '@rollcall/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { useMissing } from '../session.ts'
import { changedSettings } from './changed-settings.ts'
import { Features } from './features.tsx'
import { MailProvider } from './mail-provider.tsx'
import classes from './settings.module.css'

const CHOICES = 50
const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => rollcall.settings.get({ signal }),
})

/** The parts of the screen, with the call that reads each. */
const TABS = {
  general: { call: 'settings.get', Panel: General },
  provider: { call: 'providers.get', Panel: MailProvider },
  features: { call: 'features.list', Panel: Features },
} as const
type Tab = keyof typeof TABS

/** The settings of the organization, its mail provider and its features. */
export function Settings() {
  const { t } = useTranslation()
  const missing = useMissing()
  const { tab } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const open = (Object.keys(TABS) as Tab[]).filter(name => !missing(TABS[name].call))
  const shown = open.length > 0 ? open : (['general'] as const)
  const [first] = shown
  return (
    <Page narrow title={t('shell.areas.settings')} lead={t('settings.lead')}>
      <Tabs
        value={shown.find(name => name === tab) ?? first!}
        onChange={value => change({ tab: value === first ? undefined : (value ?? undefined) })}
        keepMounted={false}
      >
        <Tabs.List>
          {shown.map(name => (
            <Tabs.Tab key={name} value={name}>
              {t(`settings.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {shown.map(name => {
          const { Panel } = TABS[name]
          return (
            <Tabs.Panel key={name} value={name} pt="lg">
              <Panel />
            </Tabs.Panel>
          )
        })}
      </Tabs>
    </Page>
  )
}

function General() {
  const { data, error, refetch } = useQuery(settingsQuery)
  if (!data) return error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={400} />
  return <SettingsForm settings={data} />
}

function SettingsForm({ settings }: { settings: OrganizationSettings }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('settings.update')
  const form = useForm({ initialValues: settings })
  const submit = useSubmit(form, {
    send: values => rollcall.settings.update(changedSettings(form.getInitialValues(), values)),
    done: t('kit.saved'),
  })
  useUnsaved(form.isDirty)
  const hasChanged = Object.keys(changedSettings(form.getInitialValues(), form.getValues())).length > 0
  return (
    <SubmitForm form={form} submit={submit}>
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      <Section title={t('settings.general')}>
        <TextInput
          label={t('kit.field.name')}
          name="organization"
          autoComplete="organization"
          required
          withAsterisk={false}
          {...fieldProps('settings.update', 'name')}
          {...form.getInputProps('name')}
        />
        <Select
          label={t('account.profile.timezone')}
          searchable
          allowDeselect={false}
          limit={CHOICES}
          nothingFoundMessage={t('kit.table.nothing')}
          data={[...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', settings.timezone])]}
          {...form.getInputProps('timezone')}
        />
        <TextInput
          label={t('shell.language')}
          description={t('settings.languageHint')}
          required
          withAsterisk={false}
          {...fieldProps('settings.update', 'language')}
          {...form.getInputProps('language')}
        />
      </Section>
      <Section title={t('settings.security')}>
        <Switch
          label={t('settings.requireMfa')}
          description={t('settings.requireMfaHint')}
          {...form.getInputProps('requireMfa', { type: 'checkbox' })}
        />
        <NumberInput
          label={t('settings.sessionHours')}
          description={t('settings.sessionHoursHint')}
          required
          withAsterisk={false}
          min={1}
          max={720}
          allowDecimal={false}
          {...form.getInputProps('sessionHours')}
        />
        <Textarea
          label={t('settings.allowedOrigins')}
          description={t('settings.allowedOriginsHint')}
          name="allowed-origins"
          placeholder="https://app.example.com"
          autosize
          minRows={2}
          value={form.getValues().allowedOrigins.join('\n')}
          onChange={event => form.setFieldValue('allowedOrigins', event.currentTarget.value.split('\n'))}
          error={form.errors.allowedOrigins}
        />
      </Section>
      <Section title={t('settings.data')}>
        <NumberInput
          label={t('settings.eventRetentionDays')}
          description={t('settings.eventRetentionDaysHint')}
          required
          withAsterisk={false}
          min={7}
          max={365}
          allowDecimal={false}
          {...form.getInputProps('eventRetentionDays')}
        />
        <Switch
          label={t('settings.opens')}
          description={t('settings.trackingHint')}
          {...form.getInputProps('defaultTracking.opens', { type: 'checkbox' })}
        />
        <Switch label={t('settings.clicks')} {...form.getInputProps('defaultTracking.clicks', { type: 'checkbox' })} />
      </Section>
      <Group>
        <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal) || !hasChanged}>
          {t('settings.save')}
        </Button>
      </Group>
    </SubmitForm>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <h2 id={id} className={classes.heading}>
        {title}
      </h2>
      <Stack gap="md" className={classes.fields}>
        {children}
      </Stack>
    </section>
  )
}
