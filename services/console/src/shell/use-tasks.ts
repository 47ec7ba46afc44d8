import type { BulkJob, CallName, ImportJob } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { callsOf } from '../bulk/action.ts'
import * as bulk from '../bulk/job-state.ts'
import { useBulkWords } from '../bulk/use-bulk-words.ts'
import * as imports from '../imports/outcome.ts'
import type { Tone } from '../kit/status-chip.tsx'
import { pageOpenedAt } from '../server-clock.ts'
import { useMissing } from '../session.ts'

const RUNNING_MS = 1500
const IDLE_MS = 20_000
const SHOWN = 10

/** Work in the background that people follow in the header. */
export type Task = {
  id: string
  name: string
  to: '/imports/$id' | '/bulk/$id'
  createdAt: string
  isRunning: boolean
  hasFailed: boolean
  progress: number
  state: { label: string; tone: Tone }
  /** Stops it, with the calls whose permissions that takes; undefined if it cannot be stopped. */
  cancel?: { calls: readonly CallName[]; run: () => Promise<unknown> }
}

/** Returns imports and bulk changes that run and those that finished since the page was loaded, newest first. */
export function useTasks(): Task[] {
  const importTasks = useImportTasks()
  const bulkTasks = useBulkTasks()
  return [...importTasks, ...bulkTasks]
    .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
    .slice(0, SHOWN)
}

function isRecent(states: readonly string[]) {
  return { $or: [{ state: { $in: states } }, { finishedAt: { $gte: pageOpenedAt() } }] }
}

function pause<Job>(isUnfinished: (job: Job) => boolean, jobs: readonly Job[] | undefined): number {
  return jobs?.some(isUnfinished) ? RUNNING_MS : IDLE_MS
}

function useImportTasks(): Task[] {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data: jobs = [] } = useQuery({
    queryKey: ['imports', 'tasks'],
    queryFn: async ({ signal }) => {
      const filter = { kind: { $in: ['import', 'undo'] }, ...isRecent(['waiting', 'active', 'delayed']) } as object
      return (await rollcall.imports.listJobs({ filter, limit: SHOWN }, { signal })).docs
    },
    enabled: !missing('imports.listJobs'),
    refetchInterval: ({ state: { data } }) => pause(imports.isUnfinished, data),
  })
  return jobs.map((job: ImportJob): Task => {
    const file = job.fileName ?? t('imports.noFile')
    const { name, tone } = imports.stateOf(job)
    return {
      id: job._id,
      name: job.kind === 'undo' ? t('shell.tasks.undo', { file }) : file,
      to: '/imports/$id',
      createdAt: job.createdAt,
      isRunning: imports.isUnfinished(job),
      hasFailed: job.state === 'failed',
      progress: job.progress,
      state: { label: t(`imports.state.${name}`), tone },
      cancel: { calls: ['imports.cancel'], run: () => rollcall.imports.cancel(job._id) },
    }
  })
}

function useBulkTasks(): Task[] {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data: jobs = [] } = useQuery({
    queryKey: ['bulk', 'tasks'],
    queryFn: async ({ signal }) => {
      const filter = { dryRun: false, ...isRecent(['waiting', 'active']) } as object
      return (await rollcall.bulk.listJobs({ filter, limit: SHOWN }, { signal })).docs
    },
    enabled: !missing('bulk.listJobs'),
    refetchInterval: ({ state: { data } }) => pause(bulk.isUnfinished, data),
  })
  const whatOf = useBulkWords(jobs)
  return jobs.map((job: BulkJob): Task => {
    const { name, tone } = bulk.stateOf(job)
    return {
      id: job._id,
      name: whatOf(job),
      to: '/bulk/$id',
      createdAt: job.createdAt,
      isRunning: bulk.isUnfinished(job),
      hasFailed: job.state === 'failed',
      progress: job.progress,
      state: { label: t(`bulk.state.${name}`), tone },
      ...(bulk.isCancellable(job) && {
        cancel: { calls: callsOf(job), run: () => rollcall.bulk.cancelJob(job._id) },
      }),
    }
  })
}
