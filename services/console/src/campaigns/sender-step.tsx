import { Alert, NumberInput, Radio, Skeleton, Switch, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Campaign, Sender } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { SenderStatus } from '../senders/sender-status.tsx'
import { useMissing } from '../session.ts'
import classes from './edit-campaign.module.css'
import { allSendersQuery } from './queries.ts'
import { StepForm } from './step-form.tsx'

const DEFAULT = 'default'
const MAX_RATE = 1_000_000

/** Who the mail is from, what is counted, and how fast it goes out. */
export function SenderStep({ campaign }: { campaign: Campaign }) {
  const { t } = useTranslation()
  const { sender, track, ratePerMinute } = campaign
  const form = useForm({
    initialValues: {
      sender: sender ?? DEFAULT,
      track: { opens: track.opens, clicks: track.clicks },
      ratePerMinute: (ratePerMinute ?? '') as number | string,
    },
  })
  return (
    <StepForm
      campaign={campaign}
      step="sender"
      form={form}
      toBody={({ sender: chosen, track: counted, ratePerMinute: rate }) => ({
        sender: chosen === DEFAULT ? null : chosen,
        track: counted,
        ratePerMinute: Number(rate) || 0,
      })}
    >
      <div className={classes.columns} data-side>
        <Section title={t('campaigns.sender')}>
          <Senders {...form.getInputProps('sender')} />
        </Section>
        <div className={classes.stack}>
          <Section title={t('campaigns.tracking')} lead={t('campaigns.trackingText')}>
            <div className={classes.fields}>
              <Switch label={t('campaigns.trackOpens')} {...form.getInputProps('track.opens', { type: 'checkbox' })} />
              <Switch
                label={t('campaigns.trackClicks')}
                {...form.getInputProps('track.clicks', { type: 'checkbox' })}
              />
            </div>
          </Section>
          <Section title={t('campaigns.speed')}>
            <NumberInput
              label={t('campaigns.rate')}
              description={t('campaigns.rateHint')}
              placeholder={t('campaigns.rateNone')}
              min={1}
              max={MAX_RATE}
              allowDecimal={false}
              thousandSeparator=" "
              {...form.getInputProps('ratePerMinute')}
            />
          </Section>
        </div>
      </div>
    </StepForm>
  )
}

function Senders({
  value = DEFAULT,
  onChange,
  error: problem,
}: {
  value?: string
  onChange: (sender: string) => void
  error?: React.ReactNode
}) {
  const { t } = useTranslation()
  const refusal = useMissing()('senders.list')
  const { data, error, refetch } = useQuery({ ...allSendersQuery, enabled: !refusal })
  if (error) return <ProblemAlert error={error} onRetry={refetch} />
  if (!data && !refusal) return <Skeleton height={140} />
  const usual = data?.find(({ isDefault }) => isDefault)
  return (
    <Radio.Group value={value} onChange={onChange} error={problem} aria-label={t('campaigns.sender')}>
      <div className={classes.senders}>
        <Choice value={DEFAULT} isChecked={value === DEFAULT} title={t('campaigns.defaultSender')} sender={usual}>
          {usual ? `${usual.name}, ${usual.email}` : t('campaigns.noDefault')}
        </Choice>
        {data
          ?.filter(({ isDefault }) => !isDefault)
          .map(sender => (
            <Choice
              key={sender._id}
              value={sender._id}
              isChecked={value === sender._id}
              title={sender.name}
              sender={sender}
            >
              {sender.email}
            </Choice>
          ))}
      </div>
      {data?.length === 0 && (
        <Alert color="yellow" mt="sm">
          <Text size="md">
            {t('campaigns.noSenders')}{' '}
            <Link to="/senders" className="rc-link">
              {t('campaigns.addSender')}
            </Link>
          </Text>
        </Alert>
      )}
    </Radio.Group>
  )
}

function Choice({
  value,
  isChecked,
  title,
  sender,
  children,
}: {
  value: string
  isChecked: boolean
  title: string
  sender: Sender | undefined
  children: string
}) {
  const { t } = useTranslation()
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the radio is within
    <label className={classes.sender} data-checked={isChecked || undefined}>
      <Radio value={value} aria-label={`${title}, ${children}`} />
      <span className={classes.senderText}>
        <span>
          {title} {sender?.isDefault && value !== DEFAULT && <Tag>{t('senders.default')}</Tag>}
        </span>
        <small>{children}</small>
      </span>
      {sender && <SenderStatus sender={sender} />}
    </label>
  )
}
