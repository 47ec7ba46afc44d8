import { Group, Skeleton } from '@mantine/core'
import { PencilIcon, PeopleIcon } from '@primer/octicons-react'
import type { Contact } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import { useSelection } from '../bulk/use-selection.ts'
import { ContactFilters, ContactTable, ExportContacts } from '../contacts/contacts.tsx'
import { Action } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { Empty } from '../kit/empty.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { useList } from '../kit/use-list.ts'
import { FilterSentence } from './filter-sentence.tsx'
import classes from './segment.module.css'
import { SegmentForm } from './segment-form.tsx'
import { SegmentActions, SegmentCount } from './segments.tsx'

/** One segment and the contacts that match it now. */
export function Segment() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { id } = useParams({ from: '/shell/segments/$id' })
  const [isEditing, setEditing] = useState(false)
  const view = useList<Contact>(['segments', id, 'contacts'], ['email', 'name'], (query, options) =>
    rollcall.segments.listContacts(id, query, options),
  )
  const {
    data: segment,
    error,
    refetch,
  } = useQuery({ queryKey: ['segments', id], queryFn: ({ signal }) => rollcall.segments.get(id, { signal }) })
  const selected = useSelection(view, segment?.filter)
  const back = <BackLink to="/segments">{t('segments.title')}</BackLink>
  if (!segment)
    return (
      <Page title={t('segments.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={200} />}
      </Page>
    )
  return (
    <Page
      title={segment.name}
      above={back}
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
      <div className={classes.conditions}>
        <span className={classes.label}>{t('segments.conditions')}</span>
        <FilterSentence filter={segment.filter} />
      </div>
      <ContactFilters view={view} />
      <ContactTable
        view={view}
        selection={selected}
        empty={
          <Empty icon={PeopleIcon} title={t('segments.nobody.title')}>
            {t('segments.nobody.text')}
          </Empty>
        }
      />
      <BulkBar selected={selected} />
      {isEditing && <SegmentForm segment={segment} onClose={() => setEditing(false)} />}
    </Page>
  )
}
