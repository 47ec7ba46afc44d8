import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useReports } from './problem.ts'

/** An action that asks first. */
type Asked = {
  title: string
  text: ReactNode
  /** What the button says. */
  action: string
  /** What has to be typed before the button works; for what nothing brings back. */
  typed?: string
  run: () => Promise<unknown>
  /** Said when it has worked. */
  done: string
  onDone?: () => void
}

/** Returns a function that asks before it does what nothing brings back. */
export function useConfirm(): (asked: Asked) => void {
  const { t } = useTranslation()
  const act = useAct()
  return ({ title, text, action, typed, ...rest }) => {
    if (typed) {
      const id = modals.open({
        title,
        children: (
          <TypedConfirmation
            text={text}
            action={action}
            typed={typed}
            onClose={() => modals.close(id)}
            onConfirm={() => void act(rest)}
          />
        ),
      })
      return
    }
    modals.openConfirmModal({
      title,
      children: <Text size="md">{text}</Text>,
      labels: { confirm: action, cancel: t('kit.cancel') },
      confirmProps: { color: 'red' },
      cancelProps: { variant: 'default' },
      onConfirm: () => void act(rest),
    })
  }
}

/** Asks for the name of what is deleted, so that no slip deletes it. */
function TypedConfirmation({
  text,
  action,
  typed,
  onClose,
  onConfirm,
}: {
  text: ReactNode
  action: string
  typed: string
  onClose: () => void
  onConfirm: () => void
}) {
  const { t } = useTranslation()
  const [value, setValue] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value !== typed) return
    onClose()
    onConfirm()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="md">{text}</Text>
        <TextInput
          label={t('kit.typeToConfirm', { name: typed })}
          autoComplete="off"
          data-autofocus
          value={value}
          onChange={event => setValue(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('kit.cancel')}
          </Button>
          <Button type="submit" color="red" disabled={value !== typed}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
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
