import { Skeleton, Stack, Text } from '@mantine/core'
import type { EventTypeDescription } from '@rollcall/sdk'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { BackLink } from '../kit/back-link.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { SearchBox } from '../kit/search-box.tsx'
import { Section } from '../kit/section.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import classes from './event-types.module.css'
import { useEventTypes } from './queries.ts'
import { RECEIVER } from './receiver.ts'

/** What webhooks can send: each type with its description, an example and its schema; and a receiver. */
export function EventTypes() {
  const { t } = useTranslation()
  const { q = '' } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const { data: types, error, refetch } = useEventTypes()
  const wanted = q.toLowerCase()
  const found = types?.filter(({ type, description }) => `${type} ${description}`.toLowerCase().includes(wanted))
  return (
    <Page
      title={t('webhooks.catalog.title')}
      lead={t('webhooks.catalog.lead')}
      above={<BackLink to="/webhooks">{t('webhooks.back')}</BackLink>}
    >
      <Section title={t('webhooks.catalog.receiver')} lead={t('webhooks.catalog.receiverText')}>
        <CodeBlock text={RECEIVER} what={t('webhooks.catalog.receiver')} />
      </Section>
      <Section title={t('webhooks.catalog.title')}>
        <Stack gap="sm">
          <SearchBox label={t('webhooks.catalog.search')} value={q} onChange={text => change({ q: text })} />
          {error && <ProblemAlert error={error} onRetry={refetch} />}
          {!types && !error && <Skeleton height={400} />}
          {found?.length === 0 && <Text c="dimmed">{t('kit.table.nothing')}</Text>}
          {found && found.length > 0 && (
            <ul className={classes.types}>
              {found.map(description => (
                <EventType key={description.type} description={description} />
              ))}
            </ul>
          )}
        </Stack>
      </Section>
    </Page>
  )
}

function EventType({ description: { type, description, example, schema } }: { description: EventTypeDescription }) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  return (
    <li className={classes.type}>
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary className={classes.summary}>
          <code>{type}</code>
          <span>{description}</span>
        </summary>
        {isOpen && (
          <div className={classes.body}>
            <Text fw={550}>{t('webhooks.catalog.example')}</Text>
            <CodeBlock text={JSON.stringify(example, null, 2)} what={t('webhooks.catalog.example')} />
            <Text fw={550}>{t('webhooks.catalog.schema')}</Text>
            <CodeBlock text={JSON.stringify(schema, null, 2)} what={t('webhooks.catalog.schema')} />
          </div>
        )}
      </details>
    </li>
  )
}
