import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FileIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Template } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { STARTER } from './starter.ts'

/** The templates of mails. */
export function Templates() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { isCreating, open, close } = useCreating('templates.create')
  const view = useList<Template>(['templates'], ['name', 'subject'], rollcall.templates.list)
  const columns: Column<Template>[] = [
    {
      name: 'name',
      title: t('templates.template'),
      sort: 'name',
      render: ({ _id, name, subject }) => (
        <RecordLink to="/templates/$id" params={{ id: _id }} name={name} detail={subject ?? t('templates.noSubject')} />
      ),
    },
    {
      name: 'description',
      title: t('kit.field.description'),
      isMinor: true,
      render: ({ description }) => description,
    },
    { name: 'by', title: t('templates.by'), isMinor: true, render: ({ createdBy }) => createdBy.name },
    {
      name: 'updated',
      title: t('kit.field.updated'),
      sort: 'updatedAt',
      render: ({ updatedAt }) => <When at={updatedAt} />,
    },
  ]
  const create = (
    <Action call="templates.create" leftSection={<PlusIcon />} onClick={open}>
      {t('templates.create')}
    </Action>
  )
  return (
    <Page title={t('templates.title')} lead={t('templates.lead')} actions={create}>
      <FilterBar
        search={<SearchBox label={t('templates.search')} value={view.search.q} onChange={q => view.change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => {}}
        onClear={() => {}}
      />
      <RecordTable
        label={t('templates.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        actions={template => <TemplateMenu template={template} />}
        empty={
          <Empty icon={FileIcon} title={t('templates.empty.title')} action={create}>
            {t('templates.empty.text')}
          </Empty>
        }
      />
      {isCreating && (
        <NewTemplate
          onClose={close}
          onCreated={({ _id }) => void navigate({ to: '/templates/$id', params: { id: _id } })}
        />
      )}
    </Page>
  )
}

/** What can be done with a template. */
export function TemplateMenu({
  template: { _id, name },
  variant = 'subtle',
  onDeleted,
}: {
  template: Template
  variant?: 'subtle' | 'default'
  onDeleted?: () => void
}) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name} variant={variant}>
      <MenuAction
        call="templates.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('templates.deleteTitle', { name }),
            text: t('templates.deleteText'),
            action: t('templates.delete'),
            run: () => rollcall.templates.delete(_id),
            done: t('templates.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('templates.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

function NewTemplate({ onClose, onCreated }: { onClose: () => void; onCreated: (template: Template) => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name: '', subject: '' } })
  const submit = useSubmit(form, {
    send: ({ name, subject }) => rollcall.templates.create({ name, html: STARTER, ...(subject && { subject }) }),
    onDone: created => {
      onClose()
      onCreated(created)
    },
  })
  return (
    <FormModal title={t('templates.create')} form={form} submit={submit} action={t('kit.create')} onClose={onClose}>
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        data-autofocus
        {...fieldProps('templates.create', 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('templates.subject')}
        autoComplete="off"
        {...fieldProps('templates.create', 'subject')}
        {...form.getInputProps('subject')}
      />
    </FormModal>
  )
}
