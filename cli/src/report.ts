import type { ImportStatus } from '@rollcall/sdk'

const number = new Intl.NumberFormat('en')
const ERRORS_SHOWN = 5
const labels = [
  ['created', 'created'],
  ['updated', 'updated'],
  ['unchanged', 'unchanged'],
  ['skipped', 'skipped'],
  ['failed', 'failed'],
] as const
const undoLabels = [
  ['removed', 'removed'],
  ['updated', 'restored'],
  ['unchanged', 'unchanged'],
  ['skipped', 'changed since, kept'],
] as const

/** Formats a count, with separators. */
export function count(value: number): string {
  return number.format(value)
}

/** Returns the result of a finished job, in several lines. */
export function reportOf({ result }: ImportStatus, kind: 'import' | 'undo' | 'dry run'): string {
  const rows = (kind === 'undo' ? undoLabels : labels).map(([key, label]) => [label, result[key]] as [string, number])
  rows.push(['total', result.total])
  const more: [label: string, value: number][] = [
    ['duplicates in the file', result.duplicatesInFile],
    ['opt-outs kept', result.optOutsKept],
    ['added to lists', result.addedToLists],
  ]
  const lines = [...rows, ...more.filter(([, value]) => value > 0)]
  const width = Math.max(...lines.map(([label]) => label.length))
  return [
    ...lines.map(([label, value]) => `  ${label.padEnd(width)}  ${count(value).padStart(11)}`),
    ...result.errors.slice(0, ERRORS_SHOWN).map(({ line, message, value }) => `  line ${line}: ${message} (${value})`),
    ...result.preview.map(previewLine),
  ].join('\n')
}

function previewLine({ row, email, outcome, changes }: ImportStatus['result']['preview'][number]): string {
  const shown = changes.map(({ field, from, to }) => `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
  return `  row ${row}: ${email} would be ${outcome}: ${shown.join(', ')}`
}
