import { Button, Group, Skeleton, Table, Text } from '@mantine/core'
import { FilterIcon } from '@primer/octicons-react'
import type { LoggedEvent } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { SidePanel } from '../kit/side-panel.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useMissing } from '../session.ts'
import { DeliveryState } from '../webhooks/delivery-state.tsx'
import { changedFields, changesOf } from './changes.ts'
import type { EventChip } from './chips.ts'
import classes from './event-panel.module.css'
import { SubjectLink } from './subject-link.tsx'
import { useEventWords } from './use-event-words.ts'

const MAX_ENDPOINTS = 25

type OnFilter = (name: EventChip, value: string) => void

/** One event: who did what to which record, from where, what it changed, and which webhooks were notified. */
export function EventPanel({ id, onFilter }: { id: string; onFilter: OnFilter }) {
  const { t } = useTranslation()
  const { typeName } = useEventWords()
  const { data, error, refetch } = useQuery({
    queryKey: ['events', id],
    queryFn: ({ signal }) => rollcall.events.get(id, { signal }),
  })
  return (
    <SidePanel title={data ? typeName(data.type) : t('events.title')}>
      {isStatus(error, 404) && <Text>{t('events.gone')}</Text>}
      {error && !isStatus(error, 404) && <ProblemAlert error={error} onRetry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {data && <Details event={data} onFilter={onFilter} />}
    </SidePanel>
  )
}

function Details({ event, onFilter }: { event: LoggedEvent; onFilter: OnFilter }) {
  const { t, i18n } = useTranslation()
  const missing = useMissing()
  const { _id, type, at, actor, credential, ip, requestId, subject, data } = event
  const changed = changedFields(data)
  return (
    <>
      <Facts
        facts={{
          [t('events.who')]: actor.name,
          [t('events.subject')]: <SubjectLink subject={subject} />,
          [t('events.when')]: new Date(at).toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' }),
          [t('events.from')]: ip ? <Copyable value={ip} what={t('events.from')} mono /> : t('events.unknown'),
          [t('events.type')]: <code>{type}</code>,
          [t('events.id')]: <Copyable value={_id} what={t('events.id')} mono />,
          [t('events.requestId')]: requestId ? (
            <Copyable value={requestId} what={t('events.requestId')} mono />
          ) : undefined,
        }}
      />
      <Section title={t('events.only.title')}>
        <Group gap="xs">
          {actor.id && (
            <Only onClick={() => onFilter('actor', actor.id!)}>{t('events.only.actor', { name: actor.name })}</Only>
          )}
          <Only onClick={() => onFilter('subject', subject.id)}>
            {t('events.only.subject', { name: subject.name ?? t('events.only.record') })}
          </Only>
          {ip && <Only onClick={() => onFilter('ip', ip)}>{t('events.only.ip', { ip })}</Only>}
          {credential && (
            <Only onClick={() => onFilter('credential', credential.id)}>
              {t('events.only.credential', { kind: t(`events.credentials.${credential.kind}`) })}
            </Only>
          )}
        </Group>
      </Section>
      <Changes event={event} />
      {changed.length > 0 && (
        <Section title={t('events.changed')}>
          <Group gap={6}>
            {changed.map(field => (
              <Tag key={field}>{field}</Tag>
            ))}
          </Group>
        </Section>
      )}
      <Section title={t('events.data')}>
        <CodeBlock text={JSON.stringify(data, null, 2)} what={t('events.data')} />
      </Section>
      {!missing('deliveries.list') && <Receivers id={_id} />}
    </>
  )
}

function Only({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button variant="default" size="compact-sm" leftSection={<FilterIcon size={12} />} onClick={onClick}>
      {children}
    </Button>
  )
}

/** What was there before, and what is there now. */
function Changes({ event }: { event: LoggedEvent }) {
  const { t } = useTranslation()
  const changes = changesOf(event)
  if (changes.length === 0) return null
  const shown = (value: unknown) => {
    if (value === undefined || value === null || value === '') return <span>{t('events.noValue')}</span>
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  return (
    <Section title={t('events.changes')}>
      <Table.ScrollContainer minWidth={0} type="native">
        <Table aria-label={t('events.changes')} className={classes.changes}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('events.field')}</Table.Th>
              <Table.Th>{t('events.before')}</Table.Th>
              <Table.Th>{t('events.after')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ field, before, after }) => (
              <Table.Tr key={field}>
                <Table.Td>
                  <code>{field}</code>
                </Table.Td>
                <Table.Td>
                  <del>{shown(before)}</del>
                </Table.Td>
                <Table.Td>
                  <ins>{shown(after)}</ins>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}

/** The deliveries of an event, with their endpoints. */
function Receivers({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data } = useQuery({
    queryKey: ['events', id, 'deliveries'],
    queryFn: async ({ signal }) => {
      const { docs: endpoints } = await rollcall.webhooks.list({ limit: MAX_ENDPOINTS }, { signal })
      const found = await Promise.all(
        endpoints.map(async endpoint => {
          const query = { filter: { 'event.id': id }, limit: 1 } as const
          const [delivery] = (await rollcall.deliveries.list(endpoint._id, query, { signal })).docs
          return delivery ? [{ endpoint, delivery }] : []
        }),
      )
      return found.flat()
    },
  })
  return (
    <Section title={t('events.receivers')}>
      {!data && <Skeleton height={32} />}
      {data?.length === 0 && <Text c="dimmed">{t('events.noReceivers')}</Text>}
      <ul className={classes.receivers}>
        {data?.map(({ endpoint, delivery }) => (
          <li key={endpoint._id}>
            <Link className="rc-link" to="/webhooks/$id" params={{ id: endpoint._id }} search={{ show: delivery._id }}>
              {endpoint.name}
            </Link>
            <DeliveryState delivery={delivery} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
