import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { FirstFactor, SignInOrganization } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { type ComponentType, type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isStatus, rollcall } from '../api.ts'
import { PasswordField } from '../kit/password-field.tsx'
import { useProblemText } from '../kit/problem.ts'
import { CodeInput } from './code-input.tsx'
import { Frame, TextButton } from './frame.tsx'
import { SecondFactor } from './second-factor.tsx'

const Register = lazy(async () => ({ default: (await import('./register.tsx')).Register }))

type Way = 'password' | 'code' | 'forgot' | 'register' | 'second'

const RESEND_SECONDS = 30

/** The page to sign in. */
export function SignIn() {
  const { t } = useTranslation()
  const enter = useEnter()
  usePreloaded()
  return <SignInSteps title={t('signIn.title')} lead={t('signIn.lead')} surround={Frame} onEnter={enter} />
}

/** Signs in by password or mailed code, or asks for a link to set a new password. */
export function SignInSteps({
  title,
  lead,
  known = '',
  surround: Surround,
  onEnter,
}: {
  title: string
  /** Said before the first step. */
  lead: string
  /** The address of the person who is expected. */
  known?: string
  surround: ComponentType<{ title: string; lead?: string | undefined; children: ReactNode }>
  onEnter: () => void
}) {
  const { t } = useTranslation()
  const [way, setWay] = useState<Way>('password')
  const [email, setEmail] = useState(known)
  const [requestId, setRequestId] = useState('')
  const [mfaToken, setMfaToken] = useState('')
  const { data: options } = useQuery({
    queryKey: ['sign-in options'],
    queryFn: ({ signal }) => rollcall.authentication.getSignInOptions({ signal }),
    staleTime: 'static',
    enabled: known === '',
  })
  const back = () => setWay('password')
  const proceed = (answer: FirstFactor) => {
    if (!answer.mfaToken) return onEnter()
    setMfaToken(answer.mfaToken)
    setWay('second')
  }
  const enterCode = (id: string) => {
    setRequestId(id)
    setWay('code')
  }
  if (way === 'register' && options)
    return (
      <Suspense>
        <Register email={email} passwordMinLength={options.passwordMinLength} onRegistered={onEnter} onBack={back} />
      </Suspense>
    )
  const titles: Record<Exclude<Way, 'register'>, [title: string, lead?: string]> = {
    password: [title, lead],
    code: [title],
    forgot: [t('signIn.forgotTitle'), t('signIn.forgotLead')],
    second: [t('signIn.second.title')],
  }
  const [heading, below] = titles[way === 'register' ? 'password' : way]
  return (
    <Surround title={heading} lead={below}>
      {way === 'password' && (
        <ByPassword email={email} onEmail={setEmail} onWay={setWay} onCode={enterCode} onProven={proceed} />
      )}
      {way === 'password' && options?.registration === 'open' && (
        <Text size="sm" c="dimmed" mt="md">
          {t('signIn.register.question')}{' '}
          <TextButton onClick={() => setWay('register')}>{t('signIn.register.title')}</TextButton>
        </Text>
      )}
      {way === 'code' && (
        <ByCode email={email} requestId={requestId} onRequest={setRequestId} onBack={back} onProven={proceed} />
      )}
      {way === 'forgot' && <ForgotPassword email={email} onBack={back} />}
      {way === 'second' && <SecondFactor mfaToken={mfaToken} onEnter={onEnter} onBack={back} />}
    </Surround>
  )
}

function useEnter(): () => void {
  const { next } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const client = useQueryClient()
  return () => {
    client.clear()
    void navigate({ href: next ?? '/' })
  }
}

/** Loads the code of the screen that follows while people still type. */
function usePreloaded(): void {
  const { next = '/' } = useSearch({ from: '/sign-in' })
  const router = useRouter()
  useEffect(() => {
    const [matched] = router.getMatchedRoutes(next.replace(/[?#].*/, ''))
    for (const route of matched) void router.loadRouteChunk(route)?.catch(() => undefined) // loaded when it is opened
  }, [router, next])
}

function ByPassword(props: {
  email: string
  onEmail: (email: string) => void
  onWay: (way: Way) => void
  onCode: (requestId: string) => void
  /** Called when the first factor is right. */
  onProven: (answer: FirstFactor) => void
}) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [password, setPassword] = useState('')
  const [isKnown] = useState(props.email !== '')
  const emailField = useRef<HTMLInputElement>(null)
  const credentials = { email: props.email, password }
  const organizations = useMutation({ mutationFn: () => rollcall.authentication.listSignInOrganizations(credentials) })
  const signIn = useMutation({
    mutationFn: (orgId?: string) => rollcall.authentication.login({ ...credentials, ...(orgId && { orgId }) }),
    onSuccess: props.onProven,
    onError: error => isOrganizationMissing(error) && organizations.mutate(),
  })
  const requestCode = useMutation({
    mutationFn: () => rollcall.authentication.requestOtp({ email: props.email }),
    onSuccess: ({ requestId }) => props.onCode(requestId),
  })
  const isAmbiguous = isOrganizationMissing(signIn.error)
  const error = organizations.error ?? (isAmbiguous ? null : signIn.error) ?? requestCode.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    organizations.reset()
    requestCode.reset()
    signIn.mutate(undefined)
  }
  const mailCode = () => {
    if (!props.email) return emailField.current?.focus()
    if (requestCode.isPending) return
    signIn.reset()
    requestCode.mutate()
  }
  if (organizations.data)
    return (
      <Organizations
        organizations={organizations.data}
        error={error}
        onChoose={signIn.mutate}
        onBack={() => organizations.reset()}
      />
    )
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {error && (
          <Alert color="red" role="alert">
            {wrong(error, t('signIn.wrongPassword'), problemText)}
          </Alert>
        )}
        <TextInput
          ref={emailField}
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus={!isKnown}
          value={props.email}
          onChange={event => props.onEmail(event.currentTarget.value)}
        />
        <PasswordField
          label={t('signIn.password')}
          name="password"
          autoComplete="current-password"
          {...(isKnown && { 'data-autofocus': true, autoFocus: true })}
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" fullWidth size="md" loading={signIn.isPending || organizations.isPending}>
          {t('signIn.submit')}
        </Button>
        <Group justify="space-between" gap="xs">
          <TextButton onClick={mailCode}>{t('signIn.codeInstead')}</TextButton>
          <TextButton onClick={() => props.onWay('forgot')}>{t('signIn.forgot')}</TextButton>
        </Group>
      </Stack>
    </form>
  )
}

/** Asks which of the organizations that have an account of the address and the password. */
function Organizations({
  organizations,
  error,
  onChoose,
  onBack,
}: {
  organizations: readonly SignInOrganization[]
  /** Why the one that was chosen cannot be entered. */
  error: Error | null
  onChoose: (id: string) => void
  onBack: () => void
}) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  return (
    <Stack gap="sm">
      {error && (
        <Alert color="red" role="alert">
          {problemText(error)}
        </Alert>
      )}
      <Text c="dimmed" role="status">
        {t('signIn.organizationNeeded')}
      </Text>
      {organizations.map(({ _id, name }) => (
        <Button key={_id} variant="default" size="md" fullWidth onClick={() => onChoose(_id)}>
          {name}
        </Button>
      ))}
      <TextButton onClick={onBack}>{t('signIn.back')}</TextButton>
    </Stack>
  )
}

function ByCode({
  email,
  requestId,
  onRequest,
  onBack,
  onProven,
}: {
  email: string
  requestId: string
  onRequest: (requestId: string) => void
  onBack: () => void
  onProven: (answer: FirstFactor) => void
}) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [secondsLeft, restart] = useCountdown(RESEND_SECONDS)
  const verify = useMutation({
    mutationFn: (code: string) => rollcall.authentication.verifyOtp({ email, code, requestId }),
    onSuccess: onProven,
  })
  const resend = useMutation({
    mutationFn: () => rollcall.authentication.requestOtp({ email }),
    onSuccess: answer => {
      onRequest(answer.requestId)
      restart()
    },
  })
  const error = verify.error ?? resend.error // of the last one: each forgets the other
  const sendAnother = () => {
    verify.reset()
    resend.mutate()
  }
  const check = (code: string) => {
    resend.reset()
    verify.mutate(code)
  }
  return (
    <Stack gap="md">
      <Text c="dimmed" role="status">
        {t('signIn.codeSent', { email })}
      </Text>
      {error && (
        <Alert color="red" role="alert">
          {isOrganizationMissing(error)
            ? t('signIn.passwordForOrganization')
            : wrong(error, t('signIn.wrongCode'), problemText)}
        </Alert>
      )}
      <CodeInput check={{ ...verify, mutate: check }} />
      <Group justify="space-between" gap="xs">
        {secondsLeft > 0 ? (
          <Text size="sm" c="dimmed">
            {t('signIn.resendIn', { seconds: secondsLeft })}
          </Text>
        ) : (
          <TextButton onClick={sendAnother}>{t('signIn.resend')}</TextButton>
        )}
        <TextButton onClick={onBack}>{t('signIn.passwordInstead')}</TextButton>
      </Group>
    </Stack>
  )
}

function ForgotPassword({ email: known, onBack }: { email: string; onBack: () => void }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [email, setEmail] = useState(known)
  const send = useMutation({ mutationFn: () => rollcall.authentication.forgotPassword({ email }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {send.error && (
          <Alert color="red" role="alert">
            {problemText(send.error)}
          </Alert>
        )}
        {send.isSuccess ? (
          <Alert color="teal" role="status">
            {t('signIn.forgotDone', { email })}
          </Alert>
        ) : (
          <>
            <TextInput
              label={t('signIn.email')}
              type="email"
              name="email"
              autoComplete="username"
              required
              withAsterisk={false}
              value={email}
              onChange={event => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" fullWidth size="md" loading={send.isPending}>
              {t('signIn.forgotSubmit')}
            </Button>
          </>
        )}
        <TextButton onClick={onBack}>{t('signIn.back')}</TextButton>
      </Stack>
    </form>
  )
}

/** Several organizations have an account that the sign-in fits. */
function isOrganizationMissing(error: unknown): boolean {
  return isStatus(error, 400) && error.path === 'orgId'
}

/** The same words for a wrong secret and an unknown address. */
function wrong(error: Error, text: string, problemText: (error: unknown) => string): string {
  return isStatus(error, 401) ? text : problemText(error)
}

function useCountdown(seconds: number): [number, () => void] {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  return [left, () => setLeft(seconds)]
}
