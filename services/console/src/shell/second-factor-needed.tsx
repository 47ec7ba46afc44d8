import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { SetUpSecondFactor } from '../account/set-up-second-factor.tsx'
import { useReports } from '../kit/problem.ts'
import { useMe } from '../session.ts'
import { Frame } from '../sign-in/frame.tsx'
import { useSignOut } from './use-sign-out.ts'

/** In place of every screen while the organization requires a second factor that the person has not set up. */
export function SecondFactorNeeded({ onConfirm, onDone }: { onConfirm: () => void; onDone: () => void }) {
  const { t } = useTranslation()
  const { organization } = useMe()
  const { done } = useReports()
  const signOut = useSignOut()
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
