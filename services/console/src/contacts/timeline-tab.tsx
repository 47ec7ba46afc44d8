import { Avatar, Group, Skeleton, Stack, Text } from '@mantine/core'
import type { HistoryEntry } from '@rollcall/sdk'
import { Link, useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useEventWords } from '../events/use-event-words.ts'
import { FilterBar } from '../kit/filter-bar.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { LoadMore } from '../kit/load-more.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { useLoadMore } from '../kit/use-load-more.ts'
import { When } from '../kit/when.tsx'
import classes from './contact.module.css'
import { FieldChange } from './field-change.tsx'
import { byDay, changesOf, emailDetails, entryKey, filterOf, KINDS, type Kind, linksOf } from './timeline.ts'

const NAMES = Object.keys(KINDS) as Kind[]

/** Everything that happened to a contact, by day; of one kind where the address says so. */
export function Timeline({ id }: { id: string }) {
  const { t, i18n } = useTranslation()
  const kind = useKind()
  const filter = kind && { filter: filterOf(kind) as object }
  const { data, error, more } = useLoadMore(['contacts', id, 'timeline', kind], (part, options) =>
    rollcall.contacts.listTimeline(id, { ...part, ...filter }, options),
  )
  const days = byDay(data?.docs ?? [])
  return (
    <Stack gap="md">
      <KindFilter kind={kind} />
      {error && <ProblemAlert error={error} />}
      {!data && !error && <Skeleton height={160} />}
      {data && days.length === 0 && <Text c="dimmed">{t('contacts.noEntries')}</Text>}
      {days.map(({ day, entries }) => (
        <section key={day.getTime()}>
          <h3 className={classes.day}>{day.toLocaleDateString(i18n.language, { dateStyle: 'medium' })}</h3>
          <ol className={classes.timeline}>
            {entries.map(entry => (
              <Entry key={entry._id} entry={entry} />
            ))}
          </ol>
        </section>
      ))}
      <LoadMore more={more} />
    </Stack>
  )
}

/** The kind that the address names. */
function useKind(): Kind | undefined {
  const { filter } = useSearch({ strict: false }) as ListSearch
  return NAMES.find(name => name === filter?.kind)
}

function KindFilter({ kind }: { kind: Kind | undefined }) {
  const { t } = useTranslation()
  const change = useChangeSearch()
  const label = t('contacts.kinds.label')
  const options = NAMES.map(value => ({ value, label: t(`contacts.kinds.${value}`) }))
  return (
    <FilterBar
      search={null}
      choices={[{ name: 'kind', label, options }]}
      chips={kind ? [{ name: 'kind', label, text: t(`contacts.kinds.${kind}`) }] : []}
      onSet={(_name, value) => change({ filter: value ? { kind: value } : undefined })}
      onClear={() => change({ filter: undefined })}
    />
  )
}

function Entry({ entry: { type, at, actor, data } }: { entry: HistoryEntry }) {
  const { t } = useTranslation()
  const { typeName } = useEventWords()
  const changes = changesOf(data)
  return (
    <li className={classes.entry}>
      <Avatar name={actor.name} size={24} radius="xl" color="gray" aria-hidden />
      <div className={classes.entryText}>
        <div>
          <strong>{actor.name}</strong> {t(`contacts.entry.${entryKey(type)}`, { type: typeName(type) })}{' '}
          <Text span c="dimmed" size="sm">
            <When at={at} />
          </Text>
        </div>
        {changes.length > 0 && (
          <div className={classes.changes}>
            {changes.map(({ key, from, to }) => (
              <FieldChange key={key} field={key} from={from} to={to} />
            ))}
          </div>
        )}
        {type.startsWith('email.') && (
          <Text c="dimmed" size="sm">
            {emailDetails(data).join(' · ')}
          </Text>
        )}
        <EntryLinks data={data} />
      </div>
    </li>
  )
}

/** The list, import or collection behind an entry. */
function EntryLinks({ data }: { data: HistoryEntry['data'] }) {
  const { t } = useTranslation()
  const { list, importJob, row, collection } = linksOf(data)
  if (!list && !importJob && !collection) return null
  return (
    <Group gap="xs" className={classes.changes}>
      {list && (
        <Link to="/lists/$id" params={{ id: list._id }} className="rc-link">
          {list.name}
        </Link>
      )}
      {importJob && (
        <Link to="/imports/$id" params={{ id: importJob }} className="rc-link">
          {t('contacts.showImport')}
        </Link>
      )}
      {row !== undefined && (
        <Text span size="sm" c="dimmed">
          {t('contacts.row', { row })}
        </Text>
      )}
      {collection && (
        <Link to="/collections/$id" params={{ id: collection }} className="rc-link">
          {t('contacts.showEntries')}
        </Link>
      )}
    </Group>
  )
}
