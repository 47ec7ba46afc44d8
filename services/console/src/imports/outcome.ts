import type { ImportJob, ImportResult } from '@rollcall/sdk'
import type { Tone } from '../kit/status-chip.tsx'
import type en from './en.ts'

/** A share of the rows of an import, by what became of them. */
export type Part = { name: keyof typeof en.outcomes; count: number; tone: Tone }

/** Returns what became of every row; the parts add up to the total once the job is completed. */
export function partsOf(kind: ImportJob['kind'], result: ImportResult): Part[] {
  if (kind === 'undo')
    return [
      { name: 'removed', count: result.removed, tone: 'bad' },
      { name: 'restored', count: result.updated, tone: 'info' },
      { name: 'kept', count: result.skipped, tone: 'neutral' },
    ]
  return [
    { name: 'created', count: result.created, tone: 'good' },
    { name: 'updated', count: result.updated, tone: 'info' },
    { name: 'unchanged', count: result.unchanged, tone: 'neutral' },
    { name: 'skipped', count: result.skipped, tone: 'warn' },
    { name: 'failed', count: result.failed, tone: 'bad' },
  ]
}

/** Returns the state of a job as people see it, with its tone. */
export function stateOf(job: Pick<ImportJob, 'state' | 'failedReason' | 'undoneBy'>): {
  name: keyof typeof en.state
  tone: Tone
} {
  if (job.undoneBy) return { name: 'undone', tone: 'neutral' }
  if (job.failedReason === 'cancelled') return { name: 'cancelled', tone: 'neutral' }
  const tones: Record<ImportJob['state'], Tone> = {
    waiting: 'neutral',
    active: 'info',
    completed: 'good',
    failed: 'bad',
    delayed: 'warn',
  }
  return { name: job.state, tone: tones[job.state] }
}

/** Whether the job may still change. */
export function isUnfinished({ state }: Pick<ImportJob, 'state'>): boolean {
  return state === 'waiting' || state === 'active' || state === 'delayed'
}

type RowError = ImportResult['errors'][number]

/** Returns what is wrong with a row, without the column that the message may begin with. */
export function reasonOf({ column, message }: Pick<RowError, 'column' | 'message'>): string {
  return column !== null && message.startsWith(`${column} `) ? message.slice(column.length + 1) : message
}

/** Returns how often each reason occurs among the errors, by column, most frequent first. */
export function reasonsOf(errors: RowError[]): { column: string | null; reason: string; count: number }[] {
  const groups = Object.groupBy(errors, ({ column, message }) => `${column} ${message}`)
  return Object.values(groups)
    .map((each = []) => ({ column: each[0]!.column, reason: reasonOf(each[0]!), count: each.length }))
    .sort((one, other) => other.count - one.count)
}
