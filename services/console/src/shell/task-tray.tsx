import { ActionIcon, Indicator, Popover, Progress, Stack, Text, Tooltip } from '@mantine/core'
import { TasklistIcon, XIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useRefusal } from '../kit/action.tsx'
import { useAct } from '../kit/confirm.tsx'
import { followed } from '../kit/followed.ts'
import { useReports } from '../kit/problem.ts'
import { StatusChip } from '../kit/status-chip.tsx'
import classes from './task-tray.module.css'
import { type Task, useTasks } from './use-tasks.ts'

/** Imports and bulk changes that run, in any tab or by anyone, and those that finished since this tab was opened. */
export function TaskTray() {
  const { t } = useTranslation()
  const tasks = useTasks()
  const running = tasks.filter(({ isRunning }) => isRunning).length
  useCompletions(tasks)
  return (
    <Popover position="bottom-end" width={360} shadow="md" trapFocus returnFocus>
      <Indicator disabled={running === 0} processing color="indigo" offset={6} size={8}>
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={32}
            aria-label={running === 0 ? t('shell.tasks.title') : t('shell.tasks.running', { count: running })}
          >
            <TasklistIcon />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown aria-label={t('shell.tasks.title')}>
        <Text fw={600} mb="xs">
          {t('shell.tasks.title')}
        </Text>
        {tasks.length === 0 && (
          <Text c="dimmed" size="sm">
            {t('shell.tasks.none')}
          </Text>
        )}
        <Stack gap="xs">
          {tasks.map(task => (
            <TaskLine key={task.id} task={task} />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function TaskLine({ task }: { task: Task }) {
  const { id, name, to, isRunning, progress, state, cancel } = task
  return (
    <div className={classes.task}>
      <Link {...({ to, params: { id } } as LinkProps)} className={classes.name}>
        {name}
      </Link>
      {isRunning ? (
        <span className={classes.running}>
          <span className="rc-tabular">{`${progress} %`}</span>
          {cancel && <CancelButton name={name} {...cancel} />}
        </span>
      ) : (
        <StatusChip tone={state.tone}>{state.label}</StatusChip>
      )}
      {isRunning && <Progress value={progress} size="sm" aria-label={name} className={classes.progress} />}
    </div>
  )
}

function CancelButton({ name, calls, run }: { name: string } & NonNullable<Task['cancel']>) {
  const { t } = useTranslation()
  const act = useAct()
  const refusal = useRefusal()(calls)
  return (
    <Tooltip label={refusal ?? t('shell.tasks.cancelHint')}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={t('shell.tasks.cancel', { name })}
        aria-disabled={Boolean(refusal)}
        {...(refusal && { 'data-disabled': true })}
        onClick={() => !refusal && void act({ run, done: t('shell.tasks.cancelled', { name }) })}
      >
        <XIcon size={14} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Reads everything anew when a job that was seen running is finished, and says so. */
function useCompletions(tasks: readonly Task[]): void {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { done, failed } = useReports()
  const seen = useRef(new Set<string>())
  useEffect(() => {
    for (const { id, name, isRunning, hasFailed } of tasks) {
      if (isRunning) seen.current.add(id)
      else if (seen.current.delete(id)) {
        if (hasFailed) failed(new Error(t('shell.tasks.failed', { name })))
        else if (!followed.has(id)) done(t('shell.tasks.done', { name }))
        void client.invalidateQueries()
      }
    }
  })
}
