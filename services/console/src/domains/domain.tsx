import { Group, Menu, Select, Skeleton, Text } from '@mantine/core'
import { SyncIcon, TrashIcon } from '@primer/octicons-react'
import type { DnsRecord, Domain as DomainRecord, Sender } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction, useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { Copyable, CopyTextButton } from '../kit/copyable.tsx'
import { InTheWay } from '../kit/in-the-way.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { StatusChip, Tag, type Tone } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'
import classes from './domain.module.css'
import { DomainStatus } from './domains.tsx'
import { KeyRotation, KeyState } from './key-rotation.tsx'
import { firstDifference, relativeName, zoneFile, zonesOf } from './zone.ts'

const SECOND_MS = 1000
/** Senders that are named when they keep a domain from being deleted. */
const SHOWN_SENDERS = 10
/** How long to wait before each check, in seconds; the last one repeats. */
const PAUSES_S = [15, 30, 60, 120, 300] as const

const TONES: Record<DnsRecord['status'], Tone> = {
  unknown: 'neutral',
  ok: 'good',
  missing: 'bad',
  mismatch: 'bad',
  conflict: 'bad',
  error: 'warn',
}

/** The tone of a record's state: only one that is required makes a domain red. */
function toneOf({ status, required }: DnsRecord): Tone {
  return required || status === 'ok' ? TONES[status] : 'neutral'
}

/** One domain: its records, what DNS holds, and why that is wrong. */
export function Domain() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/domains/$id' })
  const {
    data: domain,
    error,
    refetch,
  } = useQuery({
    queryKey: ['domains', id],
    queryFn: ({ signal }) => rollcall.domains.get(id, { signal }),
  })
  const [chosenZone, setZone] = useState<string | null>(null)
  const back = <BackLink to="/domains">{t('domains.back')}</BackLink>
  if (!domain)
    return (
      <Page title={t('domains.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  const { sendingRecords, receivingRecords, recommendedRecords } = domain
  const zones = zonesOf(domain.domain)
  const zone = chosenZone ?? zones[0]
  return (
    <Page
      title={domain.domain}
      above={back}
      lead={
        <Group gap="sm">
          <DomainStatus domain={domain} />
          {domain.lastCheckedAt && (
            <span>
              {t('domains.checked')} <When at={domain.lastCheckedAt} />
            </span>
          )}
        </Group>
      }
      actions={<DomainActions domain={domain} />}
    >
      {!domain.verified && <Rechecks domain={domain} />}
      <KeyRotation domain={domain} />
      <Select
        label={t('domains.zone')}
        description={t('domains.zoneText')}
        allowDeselect={false}
        maw={360}
        data={zones}
        value={zone}
        onChange={setZone}
      />
      <Records
        title={t('domains.sending')}
        text={t('domains.sendingText')}
        records={sendingRecords}
        domain={domain}
        zone={zone}
        hasCopyAll
      />
      <Records
        title={t('domains.receiving')}
        text={t('domains.receivingText')}
        records={receivingRecords}
        domain={domain}
        zone={zone}
      />
      <Records
        title={t('domains.recommended')}
        text={t('domains.recommendedText')}
        records={recommendedRecords}
        domain={domain}
        zone={zone}
      />
    </Page>
  )
}

function DomainActions({ domain: { _id, domain } }: { domain: DomainRecord }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const [users, setUsers] = useState<{ docs: Sender[]; totalDocs: number }>()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { done, failed } = useReports()
  const refresh = { onError: failed, onSettled: () => client.invalidateQueries({ queryKey: ['domains'] }) }
  const check = useMutation({
    mutationFn: () => rollcall.domains.check(_id),
    onSuccess: () => done(t('domains.didCheck', { domain })),
    ...refresh,
  })
  const verify = useMutation({
    mutationFn: () => rollcall.domains.verify(_id),
    onSuccess: () => done(t('domains.verified', { domain })),
    ...refresh,
  })
  const askToDelete = async () => {
    try {
      const { docs, totalDocs } = await rollcall.senders.list({
        filter: { domain, delivery: { $ne: 'oauth' } },
        limit: SHOWN_SENDERS,
      })
      if (totalDocs === 0)
        return confirm({
          title: t('domains.deleteTitle', { domain }),
          text: t('domains.deleteText'),
          action: t('domains.delete'),
          run: () => rollcall.domains.delete(_id),
          done: t('domains.deleted', { domain }),
          onDone: () => void navigate({ to: '/domains' }),
        })
      setUsers({ docs, totalDocs })
    } catch (error) {
      failed(error)
    }
  }
  return (
    <>
      <Action
        call="domains.check"
        variant="default"
        leftSection={<SyncIcon />}
        loading={check.isPending}
        onClick={() => check.mutate()}
      >
        {t('domains.check')}
      </Action>
      <Action call="domains.verify" loading={verify.isPending} onClick={() => verify.mutate()}>
        {t('domains.verify')}
      </Action>
      <MoreMenu name={domain} variant="default">
        <MenuAction
          call="domains.rotateDkim"
          icon={<SyncIcon />}
          onClick={() =>
            confirm({
              title: t('domains.rotateTitle', { domain }),
              text: t('domains.rotateText'),
              action: t('domains.rotate'),
              run: () => rollcall.domains.rotateDkim(_id),
              done: t('domains.rotated'),
            })
          }
        >
          {t('domains.rotate')}
        </MenuAction>
        <Menu.Divider />
        <MenuAction call="domains.delete" danger icon={<TrashIcon />} onClick={() => void askToDelete()}>
          {t('domains.delete')}
        </MenuAction>
      </MoreMenu>
      {users && (
        <InTheWay
          title={t('domains.inUse', { domain })}
          text={t('domains.inUseText')}
          records={users.docs.map(({ _id: id, email, name }) => ({
            id,
            link: <RecordLink to="/senders/$id" params={{ id }} name={email} detail={name} />,
          }))}
          total={users.totalDocs}
          onClose={() => setUsers(undefined)}
        />
      )}
    </>
  )
}

/** Checks a domain that is not verified again and again, with growing pauses, while the page is open. */
function Rechecks({ domain: { _id, lastCheckedAt } }: { domain: DomainRecord }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('domains.check')
  const client = useQueryClient()
  const [round, setRound] = useState(0)
  const seconds = PAUSES_S[Math.min(round, PAUSES_S.length - 1)]!
  const isOff = Boolean(refusal) || !lastCheckedAt
  useEffect(() => {
    if (isOff) return
    const timer = setTimeout(async () => {
      await rollcall.domains.check(_id).catch(() => undefined) // the next round tries again
      await client.invalidateQueries({ queryKey: ['domains'] })
      setRound(before => before + 1)
    }, seconds * SECOND_MS)
    return () => clearTimeout(timer)
  }, [_id, client, isOff, seconds, round])
  if (isOff) return null
  return (
    <Text size="sm" c="dimmed">
      {t('domains.rechecks', { count: seconds })}
    </Text>
  )
}

function Records({
  title,
  text,
  records,
  domain,
  zone,
  hasCopyAll = false,
}: {
  title: string
  text: string
  records: readonly DnsRecord[]
  domain: DomainRecord
  zone: string
  hasCopyAll?: boolean
}) {
  const { t } = useTranslation()
  if (records.length === 0) return null
  return (
    <section>
      <div className={classes.head}>
        <div>
          <h2 className={classes.heading}>{title}</h2>
          <Text c="dimmed" size="sm">
            {text}
          </Text>
        </div>
        {hasCopyAll && (
          <CopyTextButton value={zoneFile(records)} what={t('domains.copyAll')}>
            {t('domains.copyZone')}
          </CopyTextButton>
        )}
      </div>
      <div className={classes.records}>
        {records.map(record => (
          <Record key={`${record.type} ${record.name} ${record.value}`} record={record} domain={domain} zone={zone} />
        ))}
      </div>
    </section>
  )
}

function Record({ record, domain, zone }: { record: DnsRecord; domain: DomainRecord; zone: string }) {
  const { t } = useTranslation()
  const purpose = t(`domains.purpose.${record.purpose}`)
  return (
    <article className={classes.record} aria-label={`${purpose} ${record.name}`}>
      <div className={classes.line}>
        <Group gap={6} wrap="nowrap">
          <Tag>{record.type}</Tag>
          <Text fw={550} size="sm">
            {purpose}
          </Text>
          <KeyState domain={domain} record={record} />
        </Group>
        <StatusChip tone={toneOf(record)}>{t(`domains.record.${record.status}`)}</StatusChip>
      </div>
      <dl className={classes.fields}>
        <dt>{t('domains.name')}</dt>
        <dd>
          <Copyable value={relativeName(record.name, zone)} what={t('domains.nameOf', { purpose })} mono />
        </dd>
        <dt>{t('domains.fullName')}</dt>
        <dd>
          <Copyable value={record.name} what={t('domains.fullNameOf', { purpose })} mono />
        </dd>
        <dt>{t('domains.value')}</dt>
        <dd>
          <Copyable value={record.value} what={t('domains.valueOf', { purpose })} mono />
          {record.priority !== undefined && (
            <Text size="sm" c="dimmed">
              {t('domains.priority', { priority: record.priority })}
            </Text>
          )}
        </dd>
        {record.status !== 'ok' && record.found.map(found => <Found key={found} wanted={record.value} found={found} />)}
      </dl>
      {record.reason && (
        <p className={classes.reason} data-tone={toneOf(record)}>
          {sentence(record.reason)}
        </p>
      )}
    </article>
  )
}

/** What DNS holds instead, from the first character that differs on marked. */
function Found({ wanted, found }: { wanted: string; found: string }) {
  const { t } = useTranslation()
  const at = firstDifference(wanted, found) ?? found.length
  return (
    <>
      <dt>{t('domains.found')}</dt>
      <dd className={classes.found}>
        {found.slice(0, at)}
        <mark>{found.slice(at)}</mark>
      </dd>
    </>
  )
}
