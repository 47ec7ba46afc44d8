import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './in-the-way.module.css'

/** Says what keeps something from being deleted, and leads there. */
export function InTheWay({
  title,
  text,
  records,
  total,
  onClose,
}: {
  title: string
  text: string
  /** Links to the records, by their ids. */
  records: readonly { id: string; link: ReactNode }[]
  /** How many there are in all. */
  total: number
  onClose: () => void
}) {
  const { t } = useTranslation()
  return (
    <Modal opened onClose={onClose} closeOnClickOutside title={title}>
      <Stack gap="md">
        <Text size="md">{text}</Text>
        <ul className={classes.records}>
          {records.map(({ id, link }) => (
            <li key={id}>{link}</li>
          ))}
          {total > records.length && <li>{t('kit.andMore', { count: total - records.length })}</li>}
        </ul>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('kit.close')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
