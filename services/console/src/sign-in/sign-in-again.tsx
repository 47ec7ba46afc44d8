import { Modal, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { meQuery, useMe } from '../session.ts'
import { SignInSteps } from './sign-in.tsx'

/** Over everything on a screen: dialogs, menus, notifications. */
const Z_INDEX = 500

/** Signs in over the screen whose session has ended. For the same person it stays as it is, with what was typed. */
export function SignInAgain() {
  const { t } = useTranslation()
  const { email } = useMe().user
  const client = useQueryClient()
  const enter = async () => {
    await client.refetchQueries({ queryKey: meQuery.queryKey })
    await client.invalidateQueries()
  }
  return (
    <SignInSteps
      title={t('signIn.again')}
      lead={t('signIn.againLead')}
      known={email}
      surround={Over}
      onEnter={() => void enter()}
    />
  )
}

function Over({ title, lead, children }: { title: string; lead?: string | undefined; children: ReactNode }) {
  return (
    <Modal
      opened
      onClose={() => {}}
      title={title}
      size={400}
      withCloseButton={false}
      closeOnEscape={false}
      zIndex={Z_INDEX}
      overlayProps={{ backgroundOpacity: 0.5, blur: 8 }} // nobody reads what a session showed that is over
    >
      {lead && (
        <Text c="dimmed" mb="lg">
          {lead}
        </Text>
      )}
      {children}
    </Modal>
  )
}
