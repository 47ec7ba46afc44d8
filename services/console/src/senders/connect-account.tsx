import { Alert, Button, Loader } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { BackLink } from '../kit/back-link.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { consentAnswer } from './consent-answer.ts'

/** The request that finishes the connection: the code of an answer works once, also for those who come back here. */
let finished: Promise<unknown> | undefined

/** Where a provider sends the person after the consent: finishes connecting the mail account, once. */
export function ConnectAccount() {
  const { t } = useTranslation()
  const answer = consentAnswer()
  const finish = useMutation({
    mutationFn: async () => {
      if (answer.kind !== 'granted') return
      finished ??= rollcall.senders.finishOauth(answer.provider, answer.body)
      await finished
    },
  })
  const { mutate } = finish
  useEffect(() => {
    if (answer.kind === 'granted') mutate()
  }, [answer, mutate])
  const isDone = finish.isSuccess && answer.kind === 'granted'
  const hasFailed = answer.kind !== 'granted' || finish.isError
  const title = isDone
    ? 'senders.connection.doneTitle'
    : hasFailed
      ? 'senders.connection.failed'
      : 'senders.connection.busy'
  return (
    <Page narrow title={t(title)} above={<BackLink to="/senders">{t('senders.back')}</BackLink>}>
      <div>
        {!isDone && !hasFailed && <Loader size="sm" aria-label={t('senders.connection.busy')} />}
        {isDone && (
          <Alert color="teal" role="status">
            {t('senders.connection.done')}
          </Alert>
        )}
        {finish.isError && <ProblemAlert error={finish.error} />}
        {answer.kind === 'refused' && (
          <Alert color="red" role="alert">
            {t('senders.connection.refused', { provider: t(`senders.${answer.provider}`), reason: answer.reason })}
          </Alert>
        )}
        {answer.kind === 'incomplete' && (
          <Alert color="red" role="alert">
            {t('senders.connection.incomplete')}
          </Alert>
        )}
      </div>
      <div>
        <Button component={Link} to="/senders" variant="default">
          {t('senders.title')}
        </Button>
      </div>
    </Page>
  )
}
