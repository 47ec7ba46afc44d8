import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** Asks for the name of what is deleted, so that no slip deletes it. */
export function TypedConfirmation({
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
