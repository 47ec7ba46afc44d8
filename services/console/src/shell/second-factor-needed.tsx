import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { SetUpSecondFactor } from '../account/set-up-second-factor.tsx'
import { rollcall } from '../api.ts'
import { useReports } from '../kit/problem.ts'
import { useMe } from '../session.ts'
import { Frame } from '../sign-in/frame.tsx'

/** In place of every screen while the organization requires a second factor that the person has not set up. */
export function SecondFactorNeeded({ onConfirm, onDone }: { onConfirm: () => void; onDone: () => void }) {
  const { t } = useTranslation()
  const { organization } = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { done, failed } = useReports()
  const signOut = useMutation({
    mutationFn: () => rollcall.authentication.logout(),
    onSuccess: () => {
      client.clear()
      void navigate({ to: '/sign-in' })
    },
    onError: failed,
  })
  return (
    <Frame
      wide
      title={t('account.secondFactor.setUp')}
      lead={t('account.secondFactor.needed', { organization: organization.name })}
    >
      <SetUpSecondFactor
        onConfirm={onConfirm}
        onDone={() => {
          onDone()
          done(t('account.secondFactor.turnedOn'))
        }}
        aside={
          <Button variant="subtle" color="gray" loading={signOut.isPending} onClick={() => signOut.mutate()}>
            {t('shell.signOut')}
          </Button>
        }
      />
    </Frame>
  )
}
