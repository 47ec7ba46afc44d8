import { ActionIcon, Indicator, Popover, Progress, Stack, Text } from '@mantine/core'
import { TasklistIcon } from '@primer/octicons-react'
import type { ImportJob } from '@rollcall/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { JobState } from '../imports/imports.tsx'
import { isUnfinished } from '../imports/outcome.ts'
import { useReports } from '../kit/problem.ts'
import classes from './task-tray.module.css'

const RUNNING_MS = 1500
const IDLE_MS = 20_000
const SHOWN = 10
const openedAt = new Date().toISOString()

/** Imports that run, in any tab or by anyone, and those that finished since this tab was opened. */
export function TaskTray() {
  const { t } = useTranslation()
  const { data: jobs = [] } = useQuery({
    queryKey: ['imports', 'tasks'],
    queryFn: async ({ signal }) => {
      const isRecent = [{ state: { $in: ['waiting', 'active'] as const } }, { finishedAt: { $gte: openedAt } }]
      const filter = { kind: { $in: ['import', 'undo'] as const }, $or: isRecent }
      return (await rollcall.imports.listJobs({ filter, limit: SHOWN }, { signal })).docs
    },
    refetchInterval: ({ state: { data } }) => (data?.some(isUnfinished) ? RUNNING_MS : IDLE_MS),
  })
  const running = jobs.filter(isUnfinished).length
  useCompletions(jobs)
  return (
    <Popover position="bottom-end" width={340} shadow="md" trapFocus returnFocus>
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
        {jobs.length === 0 && (
          <Text c="dimmed" size="sm">
            {t('shell.tasks.none')}
          </Text>
        )}
        <Stack gap="xs">
          {jobs.map(job => (
            <Task key={job._id} job={job} />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function Task({ job }: { job: ImportJob }) {
  const name = useTaskName()(job)
  return (
    <Link to="/imports/$id" params={{ id: job._id }} className={classes.task}>
      <span className={classes.name}>{name}</span>
      {isUnfinished(job) ? <span className="rc-tabular">{`${job.progress} %`}</span> : <JobState job={job} />}
      {isUnfinished(job) && <Progress value={job.progress} size="sm" aria-label={name} className={classes.progress} />}
    </Link>
  )
}

/** Reads everything anew when a job that was seen running is finished, and says so. */
function useCompletions(jobs: readonly ImportJob[]): void {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { done, failed } = useReports()
  const taskName = useTaskName()
  const seen = useRef(new Set<string>())
  useEffect(() => {
    for (const job of jobs) {
      if (isUnfinished(job)) seen.current.add(job._id)
      else if (seen.current.delete(job._id)) {
        const name = taskName(job)
        if (job.state === 'failed') failed(new Error(t('shell.tasks.failed', { name })))
        else done(t('shell.tasks.done', { name }))
        void client.invalidateQueries()
      }
    }
  })
}

function useTaskName(): (job: ImportJob) => string {
  const { t } = useTranslation()
  return ({ kind, fileName }) => {
    const file = fileName ?? t('imports.noFile')
    return kind === 'undo' ? t('shell.tasks.undo', { file }) : file
  }
}
