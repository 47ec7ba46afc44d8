import { Skeleton, Text } from '@mantine/core'
import type { Message } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { pollWhile } from '../kit/polling.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { SidePanel } from '../kit/side-panel.tsx'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import classes from './message-panel.module.css'
import { MessageStatus } from './message-status.tsx'

const REFRESH_MS = 3000

/** One message: from whom to whom, and what happened to it. */
export function MessagePanel({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error, refetch } = useQuery({
    queryKey: ['messages', id],
    queryFn: ({ signal }) => rollcall.messages.get(id, { signal }),
    refetchInterval: pollWhile(({ status }: Message) => status === 'queued', REFRESH_MS),
  })
  return (
    <SidePanel title={data?.subject ?? t('messages.title')}>
      {isStatus(error, 404) && <Text>{t('messages.gone')}</Text>}
      {error && !isStatus(error, 404) && <ProblemAlert error={error} onRetry={refetch} />}
      {!data && !error && <Skeleton height={240} />}
      {data && !isStatus(error, 404) && <Details message={data} />}
    </SidePanel>
  )
}

function Details({ message }: { message: Message }) {
  const { t } = useTranslation()
  const { _id, to, contact, from, sender, kind, campaign, status, sendAt, sentAt, error, events } = message
  return (
    <>
      <Facts
        facts={{
          [t('kit.field.status')]: <MessageStatus status={status} />,
          [t('messages.to')]: <Copyable value={to} what={to} />,
          [t('messages.contact')]: contact ? (
            <Link className="rc-link" to="/contacts/$id" params={{ id: contact }}>
              {to}
            </Link>
          ) : undefined,
          [t('messages.from')]: sender ? (
            <Link className="rc-link" to="/senders/$id" params={{ id: sender }}>
              {from}
            </Link>
          ) : (
            from
          ),
          [t('kit.field.kind')]: campaign ? (
            <Link className="rc-link" to="/campaigns/$id" params={{ id: campaign }}>
              {t(`messages.kind.${kind}`)}
            </Link>
          ) : (
            t(`messages.kind.${kind}`)
          ),
          [t('messages.sendAt')]: sendAt ? <When at={sendAt} /> : undefined,
          [t('messages.sentAt')]: sentAt ? <When at={sentAt} /> : undefined,
          [t('messages.error')]: error ? sentence(error) : undefined,
          [t('kit.field.id')]: <Copyable value={_id} what={t('kit.field.id')} mono />,
        }}
      />
      {status === 'scheduled' && <CancelMessage message={message} />}
      <Section title={t('messages.history')}>
        <ol className={classes.events}>
          {events.map(({ type, at, detail }) => (
            <li key={`${type} ${at}`}>
              <MessageStatus status={type} />
              <When at={at} />
              {detail && <Text size="sm">{sentence(detail)}</Text>}
            </li>
          ))}
        </ol>
      </Section>
    </>
  )
}

function CancelMessage({ message: { _id, to } }: { message: Message }) {
  const { t } = useTranslation()
  const act = useAct()
  return (
    <div>
      <Action
        call="messages.cancel"
        variant="default"
        onClick={() => void act({ run: () => rollcall.messages.cancel(_id), done: t('messages.cancelled', { to }) })}
      >
        {t('messages.cancel')}
      </Action>
    </div>
  )
}
