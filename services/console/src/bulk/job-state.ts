import type { BulkJob } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'
import type en from './en.ts'

const UNDO_MS = 7 * 24 * 3_600_000

/** Whether the job may still change. */
export function isUnfinished({ state }: Pick<BulkJob, 'state'>): boolean {
  return state === 'waiting' || state === 'active'
}

/** Whether the job can be stopped: an erasure always runs to its end. */
export function isCancellable(job: Pick<BulkJob, 'kind' | 'state'>): boolean {
  return isUnfinished(job) && job.kind !== 'erase'
}

/** Returns the state of a job as people see it, with its tone. */
export function stateOf(job: Pick<BulkJob, 'state' | 'failedReason' | 'undoneBy'>): {
  name: keyof typeof en.state
  tone: Tone
} {
  if (job.undoneBy) return { name: 'undone', tone: 'neutral' }
  if (job.failedReason === 'cancelled') return { name: 'cancelled', tone: 'neutral' }
  const tones: Record<BulkJob['state'], Tone> = { waiting: 'neutral', active: 'info', completed: 'good', failed: 'bad' }
  return { name: job.state, tone: tones[job.state] }
}

/** Returns until when a job can be undone; undefined if it cannot. */
export function undoableUntil(job: BulkJob, now: number): Date | undefined {
  const { kind, dryRun, undoneBy, finishedAt, result } = job
  if (kind === 'undo' || kind === 'erase' || dryRun || undoneBy || !finishedAt || result.changed === 0) return undefined
  const end = Date.parse(finishedAt) + UNDO_MS
  return end > now ? new Date(end) : undefined
}

/** A share of the contacts of a job. */
export type Part = { name: keyof typeof en.outcomes; count: number; tone: Tone }

/** Returns what became of the contacts; the parts add up to those that matched. */
export function partsOf({ kind, dryRun, result }: Pick<BulkJob, 'kind' | 'dryRun' | 'result'>): Part[] {
  const { changed, unchanged, failed } = result
  const isDeletion = kind === 'delete'
  const parts: Part[] = [
    {
      name:
        kind === 'undo'
          ? 'restored'
          : dryRun
            ? isDeletion
              ? 'willBeDeleted'
              : 'willChange'
            : isDeletion
              ? 'deleted'
              : 'changed',
      count: changed,
      tone: isDeletion ? 'bad' : 'info',
    },
    { name: kind === 'undo' ? 'leftAlone' : dryRun ? 'willStay' : 'unchanged', count: unchanged, tone: 'neutral' },
    { name: dryRun ? 'willFail' : 'failed', count: failed, tone: isDeletion ? 'warn' : 'bad' },
  ]
  return isDeletion ? parts.filter(({ name }) => name !== 'willStay' && name !== 'unchanged') : parts
}
