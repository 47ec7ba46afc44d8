import { Alert, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { BackLink } from '../kit/back-link.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { When } from '../kit/when.tsx'
import { AudienceStep } from './audience-step.tsx'
import { CampaignMenu } from './campaign-menu.tsx'
import { CampaignStatus } from './campaign-status.tsx'
import { ContentStep } from './content-step.tsx'
import { campaignQuery } from './queries.ts'
import { ReviewStep } from './review-step.tsx'
import { SenderStep } from './sender-step.tsx'
import { isEditable, STEPS } from './status.ts'

const VIEWS = { content: ContentStep, audience: AudienceStep, sender: SenderStep, review: ReviewStep } as const

/** Prepares a campaign in steps: content, audience, sender, review. */
export function EditCampaign() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { id, step } = useParams({ from: '/shell/campaigns/$id/edit/$step' })
  const { data, error, refetch } = useQuery(campaignQuery(id))
  const back = <BackLink to="/campaigns">{t('campaigns.back')}</BackLink>
  const known = STEPS.find(each => each === step)
  if (!known) return <Navigate to="/campaigns/$id/edit/$step" params={{ id, step: 'content' }} replace />
  if (!data)
    return (
      <Page title={t('campaigns.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={320} />}
      </Page>
    )
  if (!isEditable(data)) return <Navigate to="/campaigns/$id" params={{ id }} replace />
  const View = VIEWS[known]
  return (
    <Page
      title={data.name}
      above={back}
      lead={<CampaignStatus {...data} />}
      actions={
        <CampaignMenu
          campaign={data}
          variant="default"
          onDeleted={() => void navigate({ to: '/campaigns', ignoreBlocker: true })}
        />
      }
    >
      {data.status === 'scheduled' && (
        <Alert color="indigo">
          {t('campaigns.editScheduled')} <When at={data.scheduledAt} />
        </Alert>
      )}
      <View key={known} campaign={data} />
    </Page>
  )
}
