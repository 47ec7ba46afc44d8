import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { NoEntryIcon, PlusIcon, UndoIcon } from '@primer/octicons-react'
import type { Suppression } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'

const TONES: Record<Suppression['kind'], Tone> = { hard_bounce: 'warn', complaint: 'bad', manual: 'neutral' }
const KINDS = Object.keys(TONES) as Suppression['kind'][]

/** The addresses that get no mail. */
export function Suppressions() {
  const { t, i18n } = useTranslation()
  const { isCreating, open, close } = useCreating('suppressions.create')
  const view = useList<Suppression>(['suppressions'], ['email'], rollcall.suppressions.list)
  const { search, change } = view
  const kind = KINDS.find(each => each === search.filter?.kind)
  const columns: Column<Suppression>[] = [
    {
      name: 'email',
      title: t('kit.field.email'),
      sort: 'email',
      render: ({ email }) => <Copyable value={email} what={email} />,
    },
    {
      name: 'kind',
      title: t('suppressions.why'),
      sort: 'kind',
      render: ({ kind: each }) => <StatusChip tone={TONES[each]}>{t(`suppressions.kind.${each}`)}</StatusChip>,
    },
    { name: 'reason', title: t('suppressions.reason'), isMinor: true, render: ({ reason }) => sentence(reason) },
    {
      name: 'count',
      title: t('suppressions.count'),
      sort: 'count',
      align: 'right',
      isMinor: true,
      render: ({ count }) => count.toLocaleString(i18n.language),
    },
    {
      name: 'last',
      title: t('suppressions.last'),
      sort: 'lastAt',
      isMinor: true,
      render: ({ lastAt }) => <When at={lastAt} />,
    },
  ]
  const add = (
    <Action call="suppressions.create" leftSection={<PlusIcon />} onClick={open}>
      {t('suppressions.add')}
    </Action>
  )
  return (
    <Page title={t('suppressions.title')} lead={t('suppressions.lead')} actions={add}>
      <FilterBar
        search={<SearchBox label={t('suppressions.search')} value={search.q} onChange={q => change({ q })} />}
        choices={[
          {
            name: 'kind',
            label: t('suppressions.why'),
            options: KINDS.map(value => ({ value, label: t(`suppressions.kind.${value}`) })),
          },
        ]}
        chips={kind ? [{ name: 'kind', label: t('suppressions.why'), text: t(`suppressions.kind.${kind}`) }] : []}
        onSet={(_name, value) => change({ filter: value === undefined ? undefined : { kind: value } })}
        onClear={() => change({ filter: undefined, q: undefined })}
      />
      <RecordTable
        label={t('suppressions.title')}
        view={view}
        columns={columns}
        nameOf={({ email }) => email}
        actions={suppression => <SuppressionMenu suppression={suppression} />}
        empty={
          <Empty icon={NoEntryIcon} title={t('suppressions.empty.title')} action={add}>
            {t('suppressions.empty.text')}
          </Empty>
        }
      />
      {isCreating && <AddAddress onClose={close} />}
    </Page>
  )
}

function SuppressionMenu({ suppression: { _id, email } }: { suppression: Suppression }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <MoreMenu name={email}>
      <MenuAction
        call="suppressions.delete"
        icon={<UndoIcon />}
        onClick={() =>
          confirm({
            title: t('suppressions.liftTitle', { email }),
            text: t('suppressions.liftText'),
            action: t('suppressions.lift'),
            run: () => rollcall.suppressions.delete(_id),
            done: t('suppressions.lifted', { email }),
          })
        }
      >
        {t('suppressions.lift')}
      </MenuAction>
    </MoreMenu>
  )
}

function AddAddress({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { email: '', reason: '' } })
  const submit = useSubmit(form, {
    send: ({ email, reason }) => rollcall.suppressions.create({ email, ...(reason && { reason }) }),
    done: t('suppressions.added', { email: form.values.email }),
    onDone: onClose,
  })
  return (
    <FormModal title={t('suppressions.add')} form={form} submit={submit} action={t('kit.add')} onClose={onClose}>
      <TextInput
        label={t('kit.field.email')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...fieldProps('suppressions.create', 'email')}
        {...form.getInputProps('email')}
      />
      <Textarea
        label={t('suppressions.reason')}
        autosize
        minRows={2}
        {...fieldProps('suppressions.create', 'reason')}
        {...form.getInputProps('reason')}
      />
    </FormModal>
  )
}
