import { Alert, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { AlertIcon, GlobeIcon, PlusIcon } from '@primer/octicons-react'
import type { Domain } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { Empty } from '../kit/empty.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { ProviderLink } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { useMissing } from '../session.ts'
import { providerQuery } from '../settings/queries.ts'
import { TONES } from './status.ts'

/** The sending domains. */
export function Domains() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('domains.create')
  const view = useList<Domain>(['domains'], ['domain'], rollcall.domains.list)
  const columns: Column<Domain>[] = [
    {
      name: 'domain',
      title: t('domains.domain'),
      sort: 'domain',
      render: ({ _id, domain }) => <RecordLink to="/domains/$id" params={{ id: _id }} name={domain} />,
    },
    {
      name: 'status',
      title: t('kit.field.status'),
      sort: 'status',
      render: domain => <DomainStatus domain={domain} />,
    },
    {
      name: 'checked',
      title: t('domains.checked'),
      isMinor: true,
      render: ({ lastCheckedAt }) => <When at={lastCheckedAt} />,
    },
    {
      name: 'createdAt',
      title: t('kit.field.created'),
      sort: 'createdAt',
      isMinor: true,
      render: ({ createdAt }) => <When at={createdAt} />,
    },
  ]
  const create = (
    <Action call="domains.create" leftSection={<PlusIcon />} onClick={open}>
      {t('domains.add')}
    </Action>
  )
  return (
    <Page title={t('domains.title')} lead={t('domains.lead')} actions={create}>
      <MissingProvider />
      <RecordTable
        label={t('domains.title')}
        view={view}
        columns={columns}
        nameOf={({ domain }) => domain}
        empty={
          <Empty icon={GlobeIcon} title={t('domains.empty.title')} action={create}>
            {t('domains.empty.text')}
          </Empty>
        }
      />
      {isCreating && <AddDomain onClose={close} />}
    </Page>
  )
}

/** Says that no domain can be added yet, before anybody tries. */
function MissingProvider() {
  const { t } = useTranslation()
  const mayRead = !useMissing()('providers.get')
  const { data: provider } = useQuery({ ...providerQuery, enabled: mayRead })
  if (provider?.configured !== false) return null
  return (
    <Alert color="yellow" icon={<AlertIcon />}>
      <Text size="md">{t('settings.provider.none')}</Text>
      <ProviderLink />
    </Alert>
  )
}

/** The state of a domain, as a chip. */
export function DomainStatus({ domain: { status } }: { domain: Domain }) {
  const { t } = useTranslation()
  return <StatusChip tone={TONES[status]}>{t(`domains.status.${status}`)}</StatusChip>
}

function AddDomain({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm({ initialValues: { domain: '' } })
  const submit = useSubmit(form, {
    send: values => rollcall.domains.create(values),
    onDone: ({ _id }) => {
      onClose()
      void navigate({ to: '/domains/$id', params: { id: _id } })
    },
  })
  return (
    <FormModal title={t('domains.add')} form={form} submit={submit} action={t('domains.add')} onClose={onClose}>
      <TextInput
        label={t('domains.domain')}
        description={t('domains.domainHint')}
        placeholder="mail.example.com"
        autoComplete="off"
        data-autofocus
        {...fieldProps('domains.create', 'domain')}
        {...form.getInputProps('domain')}
      />
    </FormModal>
  )
}
