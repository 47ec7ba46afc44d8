import { Group, Skeleton, Text } from '@mantine/core'
import { SyncIcon } from '@primer/octicons-react'
import type { DeliveryAttempt, DeliveryDetails } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { pollWhile } from '../kit/polling.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { SidePanel } from '../kit/side-panel.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import { useMissing } from '../session.ts'
import { DeliveryState } from './delivery-state.tsx'
import classes from './webhooks.module.css'

const REFRESH_MS = 3000

/** One delivery: every attempt, and exactly what was sent. */
export function DeliveryPanel({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks', 'deliveries', id],
    queryFn: ({ signal }) => rollcall.deliveries.get(id, { signal }),
    refetchInterval: pollWhile(({ state }: DeliveryDetails) => state === 'pending', REFRESH_MS),
  })
  return (
    <SidePanel title={data?.event.type ?? t('webhooks.deliveries.title')}>
      {error && !isStatus(error, 404) && <ProblemAlert error={error} onRetry={refetch} />}
      {isStatus(error, 404) && <Text>{t('webhooks.deliveries.gone')}</Text>}
      {!data && !error && <Skeleton height={240} />}
      {data && !isStatus(error, 404) && <Details delivery={data} />}
    </SidePanel>
  )
}

function Details({ delivery }: { delivery: DeliveryDetails }) {
  const { t } = useTranslation()
  const act = useAct()
  const missing = useMissing()
  const { _id, event, attempts, request, nextAttemptAt } = delivery
  const hidesBody = !delivery.test && missing('events.get') !== undefined
  const hasLog = !delivery.test && !hidesBody
  return (
    <>
      <Group justify="space-between">
        <DeliveryState delivery={delivery} />
        <Action
          call="deliveries.replay"
          leftSection={<SyncIcon />}
          onClick={() =>
            void act({ run: () => rollcall.deliveries.replay(_id), done: t('webhooks.deliveries.replayed') })
          }
        >
          {t('webhooks.deliveries.replay')}
        </Action>
      </Group>
      <Facts
        facts={{
          [t('webhooks.deliveries.id')]: (
            <>
              <Copyable value={event.id} what={t('webhooks.deliveries.id')} mono />
              {hasLog && (
                <Link className="rc-link" to="/events" search={{ show: event.id }}>
                  {t('webhooks.deliveries.toEvent')}
                </Link>
              )}
            </>
          ),
          [t('kit.field.created')]: <When at={delivery.createdAt} />,
          [t('webhooks.deliveries.next')]: nextAttemptAt ? <When at={nextAttemptAt} /> : undefined,
        }}
      />
      <Section title={t('webhooks.deliveries.attempts')}>
        {attempts.map(attempt => (
          <Attempt key={attempt.at} attempt={attempt} />
        ))}
      </Section>
      <Section title={t('webhooks.deliveries.request')}>
        <Copyable value={request.url} what={t('webhooks.url')} mono />
        <Headers of={request.headers} />
      </Section>
      <Section title={t('webhooks.deliveries.body')}>
        {hidesBody ? (
          <Text size="sm" c="dimmed">
            {t('webhooks.deliveries.hidden')}
          </Text>
        ) : (
          <CodeBlock text={request.body} what={t('webhooks.deliveries.body')} />
        )}
      </Section>
    </>
  )
}

function Attempt({ attempt }: { attempt: DeliveryAttempt }) {
  const { t, i18n } = useTranslation()
  const { at, trigger, status, durationMs, error, responseHeaders, responseBody } = attempt
  return (
    <article className={classes.attempt}>
      <div className={classes.attemptHead}>
        <StatusChip tone={error === null ? 'good' : 'bad'}>
          {status ?? t('webhooks.deliveries.state.failed')}
        </StatusChip>
        <When at={at} />
        <span>{t('webhooks.deliveries.took', { ms: durationMs.toLocaleString(i18n.language) })}</span>
        <span>{t(`webhooks.deliveries.${trigger}`)}</span>
      </div>
      {error && <Text size="sm">{sentence(error)}</Text>}
      {status !== null && (
        <details className={classes.answer}>
          <summary>{t('webhooks.deliveries.response')}</summary>
          <Headers of={responseHeaders} />
          {responseBody && <CodeBlock text={responseBody} what={t('webhooks.deliveries.response')} />}
        </details>
      )}
    </article>
  )
}

function Headers({ of: headers }: { of: Record<string, string> }) {
  const { t } = useTranslation()
  const entries = Object.entries(headers)
  if (entries.length === 0) return null
  return (
    <table className={classes.headers} aria-label={t('webhooks.deliveries.headers')}>
      <tbody>
        {entries.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
