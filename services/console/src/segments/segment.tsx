import { Button, Group, Skeleton } from '@mantine/core'
import { BookmarkIcon, PencilIcon, PeopleIcon } from '@primer/octicons-react'
import type { Contact, Segment as SegmentRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import { useSelection } from '../bulk/use-selection.ts'
import { ContactFilters, ContactTable, ExportContacts } from '../contacts/contacts.tsx'
import { Action, useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Empty } from '../kit/empty.tsx'
import { sortOf } from '../kit/list-search.ts'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { type ListView, useList } from '../kit/use-list.ts'
import { FilterSentence } from './filter-sentence.tsx'
import classes from './segment.module.css'
import { SegmentCount } from './segment-count.tsx'
import { SegmentForm } from './segment-form.tsx'
import { BesideSegments } from './segment-rail.tsx'
import { SegmentActions } from './segments.tsx'

/** One segment and the contacts that match it now. */
export function Segment() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/segments/$id' })
  const {
    data: segment,
    error,
    refetch,
  } = useQuery({ queryKey: ['segments', id], queryFn: ({ signal }) => rollcall.segments.get(id, { signal }) })
  if (segment) return <Contacts segment={segment} />
  return (
    <Page title={t('segments.title')} above={<BackLink to="/segments">{t('segments.title')}</BackLink>}>
      {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
    </Page>
  )
}

/** The contacts of a segment, with its columns and in its order unless the address says otherwise. */
function Contacts({ segment }: { segment: SegmentRecord }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [isEditing, setEditing] = useState(false)
  const { _id: id, columns } = segment
  const view = useList<Contact>(
    ['segments', id, 'contacts'],
    ['email', 'name'],
    (query, options) => rollcall.segments.listContacts(id, query, options),
    { usualSort: sortOf(segment.sort) },
  )
  const selected = useSelection(view, segment.filter)
  const usual = columns.length > 0 && { usualColumns: columns }
  return (
    <Page
      title={segment.name}
      above={<BackLink to="/segments">{t('segments.title')}</BackLink>}
      lead={
        <Group gap="sm">
          <span>
            {t('segments.contacts')} <SegmentCount id={id} />
          </span>
          {segment.description && <span>{segment.description}</span>}
        </Group>
      }
      actions={
        <>
          <ExportContacts view={view} within={segment.filter} />
          <Action call="segments.update" leftSection={<PencilIcon />} onClick={() => setEditing(true)}>
            {t('segments.edit')}
          </Action>
          <MoreMenu name={segment.name} variant="default">
            <SegmentActions
              segment={segment}
              onEdit={() => setEditing(true)}
              onDeleted={() => void navigate({ to: '/segments' })}
            />
          </MoreMenu>
        </>
      }
    >
      <BesideSegments>
        <div className={classes.conditions}>
          <span className={classes.label}>{t('segments.conditions')}</span>
          <FilterSentence filter={segment.filter} />
        </div>
        <ContactFilters view={view} {...usual} more={<SaveView segment={segment} view={view} />} />
        <ContactTable
          view={view}
          {...usual}
          selection={selected}
          empty={
            <Empty icon={PeopleIcon} title={t('segments.nobody.title')}>
              {t('segments.nobody.text')}
            </Empty>
          }
        />
      </BesideSegments>
      <BulkBar selected={selected} />
      {isEditing && <SegmentForm segment={segment} onClose={() => setEditing(false)} />}
    </Page>
  )
}

/** Offers to keep the columns and the order of the address in the segment. */
function SaveView({
  segment: { _id, name, columns, sort },
  view: { search, change, request },
}: {
  segment: SegmentRecord
  view: ListView<Contact>
}) {
  const { t } = useTranslation()
  const act = useAct()
  const hasChanged = (search.cols ?? columns).join() !== columns.join() || search.sort !== sortOf(sort)
  if (useRefusal()('segments.update') || !hasChanged) return null
  return (
    <Button
      variant="subtle"
      color="gray"
      leftSection={<BookmarkIcon size={14} />}
      onClick={() =>
        void act({
          run: () =>
            rollcall.segments.update(_id, {
              ...(search.cols && { columns: search.cols }),
              ...(request.sort && { sort: request.sort }),
            }),
          done: t('segments.viewSaved', { name }),
          onDone: () => change({ cols: undefined, sort: undefined }),
        })
      }
    >
      {t('segments.saveView')}
    </Button>
  )
}
