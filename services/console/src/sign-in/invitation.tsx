import { Alert, Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { InvitationPreview } from '@rollcall/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { PasswordField } from '../kit/password-field.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Frame } from './frame.tsx'
import { linkSecret } from './link-secret.ts'

type Outcome = 'accepted' | 'declined'

/** Shows the invitation of the link that led here, and accepts or declines it. */
export function Invitation() {
  const { t, i18n } = useTranslation()
  const [outcome, setOutcome] = useState<Outcome>()
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation'],
    queryFn: ({ signal }) => rollcall.invitations.preview(linkSecret(), { signal }),
    enabled: linkSecret() !== '',
    staleTime: 'static', // an answer ends the invitation
  })
  const title = t('signIn.invitation')
  if (!linkSecret() || isStatus(error, 404))
    return (
      <Frame title={title}>
        <Stack gap="md">
          <Alert color="red" role="alert">
            {linkSecret() ? t('signIn.invitationGone') : t('signIn.noSecret')}
          </Alert>
          <ToConsole />
        </Stack>
      </Frame>
    )
  if (!data)
    return (
      <Frame title={title}>{error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton h={160} />}</Frame>
    )
  const { workspace, invitedBy, email, role, expiresAt } = data
  if (outcome)
    return (
      <Frame title={title}>
        <Stack gap="md">
          <Alert color="teal" role="status">
            {t(`signIn.${outcome}`, { workspace: workspace.name })}
          </Alert>
          <ToConsole />
        </Stack>
      </Frame>
    )
  const until = new Date(expiresAt).toLocaleDateString(i18n.language, { dateStyle: 'long' })
  const lead = t('signIn.invitationLead', { inviter: invitedBy.name, workspace: workspace.name, role, email, until })
  return (
    <Frame title={title} lead={lead}>
      <Answer preview={data} onAnswered={setOutcome} />
    </Frame>
  )
}

function ToConsole(): ReactNode {
  const { t } = useTranslation()
  return (
    <Button component={Link} to="/" variant="default" fullWidth>
      {t('signIn.toConsole')}
    </Button>
  )
}

function Answer({
  preview: { email, hasAccount },
  onAnswered,
}: {
  preview: InvitationPreview
  onAnswered: (outcome: Outcome) => void
}) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { name: '', password: '' } })
  const accept = useSubmit(form, {
    send: values => rollcall.invitations.accept(linkSecret(), hasAccount ? {} : values),
    onDone: () => onAnswered('accepted'),
  })
  const decline = useMutation({
    mutationFn: () => rollcall.invitations.decline(linkSecret()),
    onSuccess: () => onAnswered('declined'),
  })
  if (isStatus(accept.error, 401)) return <SignInFirst email={email} />
  return (
    <SubmitForm form={form} submit={accept}>
      {decline.error && <ProblemAlert error={decline.error} />}
      {!hasAccount && (
        <>
          <Text>{t('signIn.newcomer')}</Text>
          <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
          <TextInput
            label={t('signIn.name')}
            name="name"
            autoComplete="name"
            required
            withAsterisk={false}
            {...fieldProps('invitations.accept', 'name')}
            {...form.getInputProps('name')}
          />
          <PasswordField
            label={t('signIn.password')}
            name="new-password"
            autoComplete="new-password"
            {...fieldProps('invitations.accept', 'password')}
            {...form.getInputProps('password')}
          />
        </>
      )}
      <Group grow>
        <Button variant="default" size="md" loading={decline.isPending} onClick={() => decline.mutate()}>
          {t('signIn.decline')}
        </Button>
        <Button type="submit" size="md" loading={accept.isPending}>
          {t('signIn.accept')}
        </Button>
      </Group>
    </SubmitForm>
  )
}

/** A link that was not mailed opens nobody's account: its owner has to sign in. */
function SignInFirst({ email }: { email: string }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md">
      <Alert color="indigo" role="alert">
        {t('signIn.signInFirst', { email })}
      </Alert>
      <Button
        fullWidth
        size="md"
        renderRoot={props => <Link to="/sign-in" search={{ next: '/invitations' }} {...props} />}
      >
        {t('signIn.submit')}
      </Button>
    </Stack>
  )
}
