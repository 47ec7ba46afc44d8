import { Button, Skeleton, Text } from '@mantine/core'
import { CheckCircleFillIcon, CircleIcon, PaperAirplaneIcon, XCircleFillIcon } from '@primer/octicons-react'
import type { Campaign, CampaignCheck, CampaignReview } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { MailPreview } from '../kit/mail-preview.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { sentence } from '../server/texts.ts'
import { AudienceNumbers } from './audience-step.tsx'
import classes from './edit-campaign.module.css'
import type { Step } from './status.ts'
import { CampaignSteps, useGoTo } from './step-form.tsx'

const Schedule = lazy(async () => ({ default: (await import('./schedule.tsx')).Schedule }))
const SendTest = lazy(async () => ({ default: (await import('./send-test.tsx')).SendTest }))

/** The step where each check is settled. */
const STEP_OF: Record<CampaignCheck['check'], Step> = {
  sender: 'sender',
  audience: 'audience',
  content: 'content',
  rendering: 'content',
  unsubscribe: 'content',
}
const ICONS = { ok: CheckCircleFillIcon, failed: XCircleFillIcon, open: CircleIcon } as const

/** Everything that a start checks, who gets the mail, and the ways to send it. */
export function ReviewStep({ campaign }: { campaign: Campaign }) {
  const { t } = useTranslation()
  const { _id } = campaign
  const goTo = useGoTo(_id)
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['campaigns', _id, 'review'],
    queryFn: ({ signal }) => rollcall.campaigns.review(_id, { signal }),
    staleTime: 0,
    gcTime: 0, // the campaign may have changed since an earlier review
  })
  const hasContent = Boolean(campaign.template || campaign.html || campaign.text)
  return (
    <>
      <CampaignSteps
        step="review"
        failed={data?.checks.filter(({ state }) => state === 'failed').map(({ check }) => STEP_OF[check]) ?? []}
        onGo={goTo}
      />
      <div className={classes.columns} data-side>
        <div className={classes.stack}>
          <Section title={t('campaigns.checks')} lead={data && <Verdict review={data} />}>
            {error && <ProblemAlert error={error} onRetry={refetch} />}
            {!data && !error && <Skeleton height={280} radius={12} />}
            {data && (
              <ul className={classes.checks}>
                {data.checks.map(check => (
                  <Check key={check.check} id={_id} check={check} />
                ))}
              </ul>
            )}
          </Section>
          {hasContent && (
            <MailPreview
              lead={t('campaigns.previewText')}
              rendering={{
                call: 'campaigns.preview',
                key: ['campaigns', _id, campaign.updatedAt],
                content: {},
                render: (given, options) => rollcall.campaigns.preview(_id, given, options),
              }}
            />
          )}
        </div>
        <div className={`${classes.stack} ${classes.sticky}`}>
          <section className={classes.card} aria-label={t('campaigns.reach')}>
            {data?.audience && <AudienceNumbers counts={data.audience} />}
            {data && !data.audience && <Text c="dimmed">{t('campaigns.notCounted')}</Text>}
            {!data && <Skeleton height={160} />}
          </section>
          <Send campaign={campaign} review={isFetching ? undefined : data} />
        </div>
      </div>
      <div className={classes.foot}>
        <Button variant="default" onClick={() => goTo('sender')}>
          {t('kit.back')}
        </Button>
      </div>
    </>
  )
}

function Verdict({ review: { ready, checks } }: { review: CampaignReview }) {
  const { t } = useTranslation()
  const failed = checks.filter(({ state }) => state !== 'ok').length
  return <span role="status">{ready ? t('campaigns.ready') : t('campaigns.notReady', { count: failed })}</span>
}

function Check({ id, check: { check, state, reason } }: { id: string; check: CampaignCheck }) {
  const { t } = useTranslation()
  const Icon = ICONS[state]
  const step = STEP_OF[check]
  return (
    <li className={classes.check} data-state={state}>
      <Icon aria-label={t(`campaigns.checkStates.${state}`)} />
      <div className={classes.checkText}>
        <p>{t(`campaigns.checkNames.${check}`)}</p>
        {state === 'ok' && <p className={classes.reason}>{t(`campaigns.checkOk.${check}`)}</p>}
        {state === 'open' && <p className={classes.reason}>{t('campaigns.checkOpen')}</p>}
        {reason && <p className={classes.reason}>{sentence(reason)}</p>}
        {state === 'failed' && (
          <p>
            {t(`campaigns.checkHelp.${check}`)}{' '}
            <Link to="/campaigns/$id/edit/$step" params={{ id, step }} className="rc-link">
              {t('campaigns.goTo', { step: t(`campaigns.steps.${step}`) })}
            </Link>
          </p>
        )}
      </div>
    </li>
  )
}

function Send({ campaign, review }: { campaign: Campaign; review: CampaignReview | undefined }) {
  const { t, i18n } = useTranslation()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const [dialog, setDialog] = useState<'test' | 'schedule'>()
  const { _id, name, status, scheduledAt } = campaign
  const close = () => setDialog(undefined)
  const toCampaign = () => void navigate({ to: '/campaigns/$id', params: { id: _id } })
  const isReady = review?.ready === true
  const count = review?.audience?.recipients ?? 0
  const start = () =>
    confirm({
      title: t('campaigns.startTitle', { count, shown: count.toLocaleString(i18n.language) }),
      text: t('campaigns.startText', { subject: campaign.subject }),
      action: t('campaigns.start'),
      isHarmless: true,
      run: () => rollcall.campaigns.start(_id),
      done: t('campaigns.started', { name }),
      onDone: toCampaign,
    })
  return (
    <section className={classes.card} aria-label={t('campaigns.send')}>
      <div className={classes.fields}>
        <Action
          call="campaigns.start"
          size="md"
          leftSection={<PaperAirplaneIcon />}
          disabled={!isReady}
          onClick={start}
        >
          {t('campaigns.start')}
        </Action>
        <Action call="campaigns.schedule" variant="default" disabled={!isReady} onClick={() => setDialog('schedule')}>
          {t(status === 'scheduled' ? 'campaigns.reschedule' : 'campaigns.schedule')}
        </Action>
        <Action call="campaigns.test" variant="default" onClick={() => setDialog('test')}>
          {t('campaigns.test.action')}
        </Action>
        {scheduledAt && (
          <Text size="sm" c="dimmed">
            {t('campaigns.scheduledFor', {
              when: new Date(scheduledAt).toLocaleString(i18n.language, { dateStyle: 'full', timeStyle: 'short' }),
            })}
          </Text>
        )}
      </div>
      <Suspense>
        {dialog === 'test' && <SendTest campaign={campaign} onClose={close} />}
        {dialog === 'schedule' && <Schedule campaign={campaign} onClose={close} onDone={toCampaign} />}
      </Suspense>
    </section>
  )
}
