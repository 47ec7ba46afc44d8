import { Skeleton, Text } from '@mantine/core'
import { PencilIcon, PlusIcon, TagIcon, TrashIcon } from '@primer/octicons-react'
import type { Attribute } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { tagsQuery } from '../contacts/queries.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { type Column, RecordTable } from '../kit/record-table.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { useList } from '../kit/use-list.ts'
import { When } from '../kit/when.tsx'
import { AttributeForm } from './attribute-form.tsx'
import classes from './attributes.module.css'

const SHOWN_TAGS = 200

/** The attribute definitions, and the tags in use. */
export function Attributes() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('attributes.create')
  const [edited, setEdited] = useState<Attribute>()
  const view = useList<Attribute>(['attributes'], ['name'], rollcall.attributes.list)
  const columns: Column<Attribute>[] = [
    {
      name: 'name',
      title: t('kit.field.name'),
      sort: 'name',
      render: ({ name }) => (
        <Text span fw={550} size="sm">
          {name}
        </Text>
      ),
    },
    { name: 'slug', title: t('attributes.slug'), sort: 'slug', render: ({ slug }) => <code>{slug}</code> },
    {
      name: 'type',
      title: t('kit.field.type'),
      sort: 'type',
      render: ({ type, options }) => (
        <span>
          {t(`attributes.types.${type}`)}
          {options.length > 0 && <Text span c="dimmed" size="sm">{` ${options.join(', ')}`}</Text>}
        </span>
      ),
    },
    {
      name: 'required',
      title: t('attributes.requiredShort'),
      isMinor: true,
      render: ({ required }) => (required ? t('kit.yes') : t('kit.no')),
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
    <Action call="attributes.create" leftSection={<PlusIcon />} onClick={open}>
      {t('attributes.new')}
    </Action>
  )
  return (
    <Page title={t('attributes.title')} lead={t('attributes.lead')} actions={create}>
      <RecordTable
        label={t('attributes.title')}
        view={view}
        columns={columns}
        nameOf={({ name }) => name}
        empty={
          <Empty icon={TagIcon} title={t('attributes.empty.title')} action={create}>
            {t('attributes.empty.text')}
          </Empty>
        }
        actions={attribute => <AttributeMenu attribute={attribute} onEdit={() => setEdited(attribute)} />}
      />
      <TagCloud />
      {isCreating && <AttributeForm onClose={close} />}
      {edited && <AttributeForm attribute={edited} onClose={() => setEdited(undefined)} />}
    </Page>
  )
}

function AttributeMenu({ attribute: { _id, name, slug }, onEdit }: { attribute: Attribute; onEdit: () => void }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const { failed } = useReports()
  const askToDelete = async () => {
    try {
      const filter = { [`attributes.${slug}`]: { $exists: true } }
      const { totalDocs } = await rollcall.contacts.list({ filter: filter as object, limit: 1 })
      confirm({
        title: t('attributes.deleteTitle', { name }),
        text: t('attributes.deleteText', { count: totalDocs }),
        action: t('attributes.delete'),
        run: () => rollcall.attributes.delete(_id),
        done: t('attributes.deleted', { name }),
      })
    } catch (error) {
      failed(error)
    }
  }
  return (
    <MoreMenu name={name}>
      <MenuAction call="attributes.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('kit.edit')}
      </MenuAction>
      <MenuAction call="attributes.delete" danger icon={<TrashIcon />} onClick={() => void askToDelete()}>
        {t('attributes.delete')}
      </MenuAction>
    </MoreMenu>
  )
}

function TagCloud() {
  const { t, i18n } = useTranslation()
  const { data: tags } = useQuery(tagsQuery)
  return (
    <section>
      <h2 className={classes.heading}>{t('attributes.tags')}</h2>
      {!tags && <Skeleton height={60} />}
      {tags?.length === 0 && <Text c="dimmed">{t('attributes.noTags')}</Text>}
      <div className={classes.tags}>
        {tags?.slice(0, SHOWN_TAGS).map(({ tag, count }) => (
          <Link key={tag} to="/contacts" search={{ filter: { tags: tag } }} className={classes.tag}>
            <Tag>{tag}</Tag>
            <span className="rc-tabular">
              {count.toLocaleString(i18n.language)}
              <span className="rc-hidden">{` ${t('attributes.contacts')}`}</span>
            </span>
          </Link>
        ))}
      </div>
    </section>
  )
}
