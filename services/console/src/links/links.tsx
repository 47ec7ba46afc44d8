import { Menu, Text } from '@mantine/core'
import { LinkIcon, PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Link } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Empty } from '../kit/empty.tsx'
import { FilterBar } from '../kit/filter-bar.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { stateOf, TONES } from './state.ts'

const LinkForm = lazy(async () => ({ default: (await import('./link-form.tsx')).LinkForm }))

/** The short links. */
export function Links() {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const [edited, setEdited] = useState<Link>()
  const { isCreating, open, close } = useCreating('links.create')
  const view = useList<Link>(['links'], ['title', 'url', 'slug'], rollcall.links.list)
  const number = (value: number) => value.toLocaleString(i18n.language)
  const columns: Column<Link>[] = [
    {
      name: 'link',
      title: t('links.link'),
      sort: 'title',
      render: link => <RecordLink to="/links/$id" params={{ id: link._id }} name={nameOf(link)} detail={link.url} />,
    },
    {
      name: 'slug',
      title: t('links.slug'),
      sort: 'slug',
      isMinor: true,
      render: ({ slug, shortUrl }) => (
        <Copyable value={shortUrl} what={t('links.slug')} mono>
          {slug}
        </Copyable>
      ),
    },
    { name: 'state', title: t('kit.field.status'), render: link => <LinkState link={link} /> },
    {
      name: 'clicks',
      title: t('links.clicks'),
      sort: 'clicks',
      align: 'right',
      render: ({ clicks }) => number(clicks),
    },
    {
      name: 'unique',
      title: t('links.unique'),
      sort: 'uniqueClicks',
      align: 'right',
      isMinor: true,
      render: ({ uniqueClicks }) => number(uniqueClicks),
    },
    {
      name: 'last',
      title: t('links.last'),
      sort: 'lastClickedAt',
      isMinor: true,
      render: ({ lastClickedAt }) =>
        lastClickedAt ? (
          <When at={lastClickedAt} />
        ) : (
          <Text span c="dimmed" size="sm">
            {t('links.never')}
          </Text>
        ),
    },
  ]
  const create = (
    <Action call="links.create" leftSection={<PlusIcon />} onClick={open}>
      {t('links.create')}
    </Action>
  )
  return (
    <Page title={t('links.title')} lead={t('links.lead')} actions={create}>
      <FilterBar
        search={<SearchBox label={t('links.search')} value={view.search.q} onChange={q => view.change({ q })} />}
        choices={[]}
        chips={[]}
        onSet={() => {}}
        onClear={() => {}}
      />
      <RecordTable
        label={t('links.title')}
        view={view}
        columns={columns}
        nameOf={nameOf}
        actions={link => <LinkMenu link={link} onEdit={() => setEdited(link)} />}
        empty={
          <Empty icon={LinkIcon} title={t('links.empty.title')} action={create}>
            {t('links.empty.text')}
          </Empty>
        }
      />
      <Suspense>
        {isCreating && (
          <LinkForm onClose={close} onCreated={({ _id }) => void navigate({ to: '/links/$id', params: { id: _id } })} />
        )}
        {edited && <LinkForm link={edited} onClose={() => setEdited(undefined)} />}
      </Suspense>
    </Page>
  )
}

/** What people call a link: its title, else its short address. */
export function nameOf({ title, slug }: Pick<Link, 'title' | 'slug'>): string {
  return title || `/l/${slug}`
}

/** Whether a link leads anywhere, as a chip. */
export function LinkState({ link }: { link: Link }) {
  const { t } = useTranslation()
  const state = stateOf(link)
  return <StatusChip tone={TONES[state]}>{t(`links.state.${state}`)}</StatusChip>
}

/** What can be done with a link. */
export function LinkMenu({
  link,
  variant = 'subtle',
  onEdit,
  onDeleted,
}: {
  link: Link
  variant?: 'subtle' | 'default'
  onEdit: () => void
  onDeleted?: () => void
}) {
  const { t } = useTranslation()
  const act = useAct()
  const confirm = useConfirm()
  const { _id, active } = link
  const name = nameOf(link)
  return (
    <MoreMenu name={name} variant={variant}>
      <MenuAction call="links.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('links.edit')}
      </MenuAction>
      <MenuAction
        call="links.update"
        onClick={() =>
          void act({
            run: () => rollcall.links.update(_id, { active: !active }),
            done: t(active ? 'links.didOff' : 'links.didOn'),
          })
        }
      >
        {t(active ? 'links.off' : 'links.on')}
      </MenuAction>
      <Menu.Divider />
      <MenuAction
        call="links.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('links.deleteTitle', { name }),
            text: t('links.deleteText'),
            action: t('links.delete'),
            run: () => rollcall.links.delete(_id),
            done: t('links.deleted', { name }),
            ...(onDeleted && { onDone: onDeleted }),
          })
        }
      >
        {t('links.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
