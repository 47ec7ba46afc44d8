import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** Asks for the first and the last day of a time, one of which may stay empty. Returns its start and end: `from/to`. */
export function TimeRange({ onPick, onClose }: { onPick: (range: string) => void; onClose: () => void }) {
  const { t } = useTranslation()
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const isWrong = from !== '' && to !== '' && to < from
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const start = from && new Date(`${from}T00:00:00`).toISOString()
    const end = to && new Date(`${to}T23:59:59.999`).toISOString()
    onPick(`${start}/${end}`)
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('kit.filter.between')} size="sm">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Group grow align="flex-start">
            <TextInput
              type="date"
              label={t('kit.filter.firstDay')}
              data-autofocus
              max={to || undefined}
              value={from}
              onChange={event => setFrom(event.currentTarget.value)}
            />
            <TextInput
              type="date"
              label={t('kit.filter.lastDay')}
              min={from || undefined}
              value={to}
              onChange={event => setTo(event.currentTarget.value)}
            />
          </Group>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('kit.cancel')}
            </Button>
            <Button type="submit" disabled={isWrong || (from === '' && to === '')}>
              {t('kit.filter.apply')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
