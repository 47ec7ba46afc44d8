import { Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { useReports } from './problem.ts'

const TypedConfirmation = lazy(async () => ({
  default: (await import('./typed-confirmation.tsx')).TypedConfirmation,
}))

/** An action that asks first. */
type Asked = {
  title: string
  text: ReactNode
  /** What the button says. */
  action: string
  /** Nothing is lost by it. */
  isHarmless?: boolean
  /** What has to be typed before the button works; for what nothing brings back. */
  typed?: string
  run: () => Promise<unknown>
  /** Said when it has worked. */
  done: string
  onDone?: () => void
}

/** Returns a function that asks before it does what cannot be taken back. */
export function useConfirm(): (asked: Asked) => void {
  const { t } = useTranslation()
  const act = useAct()
  return ({ title, text, action, typed, isHarmless = false, ...rest }) => {
    if (typed) {
      const id = modals.open({
        title,
        children: (
          <Suspense>
            <TypedConfirmation
              text={text}
              action={action}
              typed={typed}
              onClose={() => modals.close(id)}
              onConfirm={() => void act(rest)}
            />
          </Suspense>
        ),
      })
      return
    }
    modals.openConfirmModal({
      title,
      children: <Text size="md">{text}</Text>,
      labels: { confirm: action, cancel: t('kit.cancel') },
      ...(!isHarmless && { confirmProps: { color: 'red' } }),
      cancelProps: { variant: 'default' },
      onConfirm: () => void act(rest),
    })
  }
}

/** Returns a function that does something at once, reads everything anew, and says how it went. */
export function useAct(): (act: Pick<Asked, 'run' | 'done' | 'onDone'>) => Promise<void> {
  const client = useQueryClient()
  const { done, failed } = useReports()
  return async act => {
    try {
      await act.run()
      done(act.done)
      act.onDone?.()
      await client.invalidateQueries()
    } catch (error) {
      failed(error)
    }
  }
}
