import { Group, Menu, Skeleton } from '@mantine/core'
import { ArchiveIcon, DashIcon, PencilIcon, PeopleIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { AudienceList, Contact } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import { useSelection } from '../bulk/use-selection.ts'
import { ContactFilters, ContactTable } from '../contacts/contacts.tsx'
import { GrowthCard } from '../growth/growth-card.tsx'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useList } from '../kit/use-list.ts'
import { useMissing } from '../session.ts'
import { ListForm } from './list-form.tsx'

const MoveContacts = lazy(async () => ({ default: (await import('./move-contacts.tsx')).MoveContacts }))

/** One list and its members. */
export function List() {
  const { t, i18n } = useTranslation()
  const { id } = useParams({ from: '/shell/lists/$id' })
  const act = useAct()
  const missing = useMissing()
  const [dialog, setDialog] = useState<'edit' | 'add' | 'remove'>()
  const view = useList<Contact>(['lists', id, 'members'], ['email', 'name'], (query, options) =>
    rollcall.lists.listMembers(id, query, options),
  )
  const selected = useSelection(view, { lists: id })
  const {
    data: list,
    error,
    refetch,
  } = useQuery({
    queryKey: ['lists', id],
    queryFn: ({ signal }) => rollcall.lists.get(id, { signal }),
  })
  const back = <BackLink to="/lists">{t('lists.back')}</BackLink>
  if (!list)
    return (
      <Page title={t('lists.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
      </Page>
    )
  const addButton = (
    <Action call="lists.addMembers" leftSection={<PlusIcon />} onClick={() => setDialog('add')}>
      {t('lists.addContacts')}
    </Action>
  )
  return (
    <Page
      title={list.name}
      above={back}
      lead={
        <Group gap="sm">
          {list.archived && <StatusChip tone="neutral">{t('lists.archived')}</StatusChip>}
          <span>{`${t('lists.members')} ${list.memberCount.toLocaleString(i18n.language)}`}</span>
          <span>{`${t('lists.active')} ${list.activeCount.toLocaleString(i18n.language)}`}</span>
          {list.description && <span>{list.description}</span>}
        </Group>
      }
      actions={
        <>
          {!list.archived && addButton}
          <ListMenu list={list} onEdit={() => setDialog('edit')} onRemove={() => setDialog('remove')} />
        </>
      }
    >
      {!missing('contacts.getGrowth') && list.memberCount > 0 && <GrowthCard list={id} />}
      <ContactFilters view={view} />
      <ContactTable
        view={view}
        selection={selected}
        empty={
          <Empty icon={PeopleIcon} title={t('lists.noMembers.title')} action={!list.archived && addButton}>
            {t('lists.noMembers.text')}
          </Empty>
        }
        actions={({ _id, email }) => (
          <MoreMenu name={email}>
            <MenuAction
              call="lists.removeMembers"
              onClick={() =>
                void act({
                  run: () => rollcall.lists.removeMembers(id, { contactIds: [_id] }),
                  done: t('lists.removed', { email }),
                })
              }
            >
              {t('lists.remove')}
            </MenuAction>
          </MoreMenu>
        )}
      />
      <BulkBar selected={selected} />
      {dialog === 'edit' && <ListForm list={list} onClose={() => setDialog(undefined)} />}
      <Suspense>
        {(dialog === 'add' || dialog === 'remove') && (
          <MoveContacts list={list} isAdding={dialog === 'add'} onClose={() => setDialog(undefined)} />
        )}
      </Suspense>
    </Page>
  )
}

function ListMenu({ list, onEdit, onRemove }: { list: AudienceList; onEdit: () => void; onRemove: () => void }) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { _id, name, archived, memberCount } = list
  return (
    <MoreMenu name={name} variant="default">
      <MenuAction call="lists.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('lists.edit')}
      </MenuAction>
      <MenuAction call="lists.removeMembers" icon={<DashIcon />} onClick={onRemove}>
        {t('lists.removeContacts')}
      </MenuAction>
      <MenuAction
        call="lists.update"
        icon={<ArchiveIcon />}
        onClick={() =>
          void act({
            run: () => rollcall.lists.update(_id, { archived: !archived }),
            done: t(archived ? 'lists.didUnarchive' : 'lists.didArchive', { name }),
          })
        }
      >
        {t(archived ? 'lists.unarchive' : 'lists.archive')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="lists.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('lists.deleteTitle', { name }),
            text: t('lists.deleteText', { count: memberCount }),
            action: t('lists.delete'),
            run: () => rollcall.lists.delete(_id),
            done: t('lists.deleted', { name }),
            onDone: () => void navigate({ to: '/lists' }),
          })
        }
      >
        {t('lists.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
