import { Alert, Button, Group, PasswordInput, Radio, Select, Skeleton, Stack } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { TrashIcon } from '@primer/octicons-react'
import type { Provider } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, useRefusal } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { type ProviderValues, providerBody, valuesOfProvider } from './provider-values.ts'
import { providerQuery } from './queries.ts'
import classes from './settings.module.css'

/** By whom the domains of the organization are run and its mail is sent. */
export function MailProvider() {
  const { t } = useTranslation()
  const { data: provider, error, refetch } = useQuery(providerQuery)
  if (!provider) return error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />
  return (
    <Stack gap="xl">
      <Section
        title={t('settings.provider.title')}
        lead={t('settings.provider.lead')}
        action={provider.configured && <RemoveProvider />}
      >
        <Stack gap="md" className={classes.fields}>
          {!provider.configured && <Alert color="yellow">{t('settings.provider.none')}</Alert>}
          <ProviderForm key={provider.kind} provider={provider} />
        </Stack>
      </Section>
      {provider.webhookUrl && <Webhook url={provider.webhookUrl} />}
    </Stack>
  )
}

function ProviderForm({ provider }: { provider: Provider }) {
  const { t } = useTranslation()
  const refusalOf = useRefusal()
  const refusal = refusalOf('providers.set')
  const form = useForm({ initialValues: valuesOfProvider(provider) })
  const submit = useSubmit(form, {
    send: values => rollcall.providers.set(providerBody(values)),
    done: t('settings.provider.saved'),
    onDone: () => {
      form.setInitialValues({ ...form.getValues(), apiKey: '', webhookSigningKey: '' })
      form.reset()
    },
    placeOf: { 'provider.key_refused': 'apiKey', 'provider.not_offered': 'kind' },
  })
  useUnsaved(form.isDirty)
  const { kind } = form.values
  const isOther = provider.kind !== null && kind !== provider.kind
  return (
    <SubmitForm form={form} submit={submit}>
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      <Radio.Group label={t('settings.provider.sentBy')} {...form.getInputProps('kind')}>
        <Stack gap="sm" mt="xs">
          {(['self-hosted', 'mailgun'] as const).map(value => (
            <Radio
              key={value}
              value={value}
              label={t(`settings.provider.kinds.${value}`)}
              description={t(`settings.provider.kindHints.${value}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {isOther && <Alert color="yellow">{t('settings.provider.other')}</Alert>}
      {kind === 'mailgun' && <MailgunFields form={form} isStored={provider.kind === 'mailgun'} />}
      <Group>
        <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal) || !form.isDirty()}>
          {t('settings.provider.save')}
        </Button>
        {provider.configured && !form.isDirty() && !refusalOf('domains.create') && (
          <Link to="/domains" search={{ new: true }} className="rc-link">
            {t('settings.provider.addDomain')}
          </Link>
        )}
      </Group>
    </SubmitForm>
  )
}

function MailgunFields({ form, isStored }: { form: UseFormReturnType<ProviderValues>; isStored: boolean }) {
  const { t } = useTranslation()
  const kept = isStored && t('settings.provider.keyKept')
  return (
    <>
      <Select
        label={t('settings.provider.region')}
        allowDeselect={false}
        data={(['us', 'eu'] as const).map(value => ({ value, label: t(`settings.provider.regions.${value}`) }))}
        {...form.getInputProps('region')}
      />
      <PasswordInput
        label={t('settings.provider.apiKey')}
        description={kept}
        required={!isStored}
        autoComplete="new-password"
        {...fieldProps('providers.set', 'apiKey')}
        {...form.getInputProps('apiKey')}
      />
      <PasswordInput
        label={t('settings.provider.signingKey')}
        description={kept || t('settings.provider.signingKeyHint')}
        autoComplete="new-password"
        {...fieldProps('providers.set', 'webhookSigningKey')}
        {...form.getInputProps('webhookSigningKey')}
      />
    </>
  )
}

/** Where Mailgun reports what became of the mail. */
function Webhook({ url }: { url: string }) {
  const { t } = useTranslation()
  return (
    <Section title={t('settings.provider.webhook')} lead={t('settings.provider.webhookText')}>
      <Copyable value={url} what={t('settings.provider.webhookUrl')} mono />
    </Section>
  )
}

function RemoveProvider() {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <Action
      call="providers.delete"
      variant="default"
      leftSection={<TrashIcon />}
      onClick={() =>
        confirm({
          title: t('settings.provider.removeTitle'),
          text: t('settings.provider.removeText'),
          action: t('settings.provider.remove'),
          run: () => rollcall.providers.delete(),
          done: t('settings.provider.removed'),
        })
      }
    >
      {t('settings.provider.remove')}
    </Action>
  )
}
