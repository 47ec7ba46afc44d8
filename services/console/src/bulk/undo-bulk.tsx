import { Button, Group, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { UndoIcon } from '@primer/octicons-react'
import type { BulkJob } from '@rollcall/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { callsOf } from './action.ts'
import classes from './bulk.module.css'
import { undoableUntil } from './job-state.ts'

/** Undoes a job after saying what that will leave alone; nothing for a job that cannot be undone. */
export function UndoBulk({ job, onStarted }: { job: BulkJob; onStarted?: () => void }) {
  const { t } = useTranslation()
  const [isOpen, { open, close }] = useDisclosure()
  if (!undoableUntil(job, Date.now())) return null
  return (
    <>
      <Action call={callsOf(job)} variant="default" leftSection={<UndoIcon />} onClick={open}>
        {t('bulk.undo')}
      </Action>
      {isOpen && <UndoDialog job={job} onClose={close} onStarted={onStarted} />}
    </>
  )
}

function UndoDialog({
  job: { _id, kind, result },
  onClose,
  onStarted,
}: {
  job: BulkJob
  onClose: () => void
  onStarted: (() => void) | undefined
}) {
  const { t, i18n } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const { done } = useReports()
  const undo = useMutation({
    mutationFn: () => rollcall.bulk.undoJob(_id),
    onSuccess: ({ jobId }) => {
      done(t('bulk.undoing'))
      onClose()
      onStarted?.()
      void client.invalidateQueries()
      void navigate({ to: '/bulk/$id', params: { id: jobId } })
    },
  })
  const number = result.changed.toLocaleString(i18n.language)
  const keeps = kind === 'delete' ? (['taken', 'lists'] as const) : (['changedSince', 'optOuts', 'lists'] as const)
  return (
    <Modal opened onClose={onClose} title={t('bulk.undoTitle')}>
      {undo.error && <ProblemAlert error={undo.error} />}
      <Text size="md">{t(kind === 'delete' ? 'bulk.undoDeletion' : 'bulk.undoFields', { number })}</Text>
      <ul className={classes.keeps}>
        {keeps.map(name => (
          <li key={name}>{t(`bulk.keeps.${name}`)}</li>
        ))}
      </ul>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onClose}>
          {t('kit.cancel')}
        </Button>
        <Button data-autofocus loading={undo.isPending} onClick={() => undo.mutate()}>
          {t('bulk.undo')}
        </Button>
      </Group>
    </Modal>
  )
}
