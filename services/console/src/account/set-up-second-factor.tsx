import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { RollcallError } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Copyable } from '../kit/copyable.tsx'
import { fieldProps } from '../kit/form-modal.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { QrCode } from '../kit/qr-code.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import classes from './second-factor.module.css'

/**
 * Sets up a second factor: a secret for the authenticator app, its first code, and the recovery codes, which are shown
 * once. Nothing is read anew before they are stored, so that they stay on the screen.
 */
export function SetUpSecondFactor({
  onConfirm,
  onDone,
  aside,
}: {
  /** A code is sent: from now on, the second factor may be set up. */
  onConfirm?: () => void
  /** The recovery codes are stored. */
  onDone: () => void
  aside?: ReactNode
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [codes, setCodes] = useState<string[]>()
  // Also for people who leave the codes: the second factor is on.
  useEffect(() => (codes ? () => void client.invalidateQueries() : undefined), [codes, client])
  const finish = () => {
    onDone()
    void client.invalidateQueries()
  }
  if (!codes) return <Confirm onConfirm={onConfirm} onConfirmed={setCodes} aside={aside} />
  return <RecoveryCodes codes={codes} done={t('account.secondFactor.isOn')} onStored={finish} />
}

function Confirm({
  onConfirm,
  onConfirmed,
  aside,
}: {
  onConfirm: (() => void) | undefined
  onConfirmed: (codes: string[]) => void
  aside: ReactNode
}) {
  const { t } = useTranslation()
  const setup = useQuery({
    queryKey: ['account', 'totp'],
    queryFn: () => rollcall.account.startTotp(),
    // A second secret would replace the one on the screen.
    staleTime: 'static',
    gcTime: 0,
  })
  const form = useForm({ initialValues: { code: '' } })
  const confirm = useMutation({
    mutationFn: (values: { code: string }) => rollcall.account.confirmTotp(values),
    onMutate: () => onConfirm?.(),
    onSuccess: ({ recoveryCodes }) => onConfirmed(recoveryCodes),
    onError: error => {
      if (isWrongCode(error)) form.setErrors({ code: t('account.secondFactor.wrongCode') })
    },
  })
  if (setup.error) return <ProblemAlert error={setup.error} onRetry={setup.refetch} />
  return (
    <form onSubmit={form.onSubmit(values => confirm.mutate(values))}>
      <Stack gap="md">
        {confirm.error && !isWrongCode(confirm.error) && (
          <ProblemAlert error={confirm.error} onRetry={() => setup.refetch()} />
        )}
        <Text>{t('account.secondFactor.scan')}</Text>
        {setup.data ? (
          <div className={classes.setup}>
            <QrCode text={setup.data.uri} label={t('account.secondFactor.qrCode')} />
            <div className={classes.secret}>
              <Text size="sm" c="dimmed">
                {t('account.secondFactor.type')}
              </Text>
              <Copyable value={setup.data.secret} what={t('account.secondFactor.secret')} mono>
                {setup.data.secret.match(/.{4}/g)?.join(' ')}
              </Copyable>
            </div>
          </div>
        ) : (
          <Skeleton height={210} />
        )}
        <TextInput
          label={t('account.secondFactor.firstCode')}
          description={t('account.secondFactor.firstCodeHint')}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          withAsterisk={false}
          {...fieldProps('account.confirmTotp', 'code')}
          {...form.getInputProps('code')}
        />
        <Group justify="flex-end" gap="xs">
          {aside}
          <Button type="submit" loading={confirm.isPending} disabled={!setup.data}>
            {t('account.secondFactor.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function isWrongCode(error: unknown): boolean {
  return error instanceof RollcallError && error.path === 'code'
}
