import type { Figure } from './measure.ts'

/** A row of the table without its last cell, and the description of its machine. */
type Row = { cells: string; machine: string }

const ROW = /^(\| (.*?) \| .* \|) ([A-Z]) \|$/
const MACHINE = /^- ([A-Z]): (.+)$/

/**
 * Returns the text of RESULTS.md with these figures, measured on this machine, in place of earlier ones of the same
 * name. The last cell of a row is a letter; the list below the table describes the machine of each letter.
 */
export function recordFigures(text: string, figures: readonly Figure[], machine: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex(line => line.startsWith('|---')) + 1
  const end = endOf(lines, first, line => line.startsWith('| '))
  const legendEnd = endOf(lines, end + 1, line => MACHINE.test(line))
  const letters = new Map(lines.slice(end, legendEnd).flatMap(machineIn))
  const rows = new Map(lines.slice(first, end).map(line => rowIn(line, letters)))
  for (const { name, measured, goal, ok } of figures) {
    rows.set(name, { cells: `| ${name} | ${measured} | ${goal} | ${ok ? 'ok' : 'short'} |`, machine })
  }
  const sorted = [...rows].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })).map(([, row]) => row)
  const machines = lettered(letters, new Set(sorted.map(row => row.machine)))
  return [
    ...lines.slice(0, first),
    ...sorted.map(row => `${row.cells} ${machines.get(row.machine)} |`),
    '',
    ...[...machines].map(([description, letter]) => `- ${letter}: ${description}`),
    ...lines.slice(legendEnd),
  ].join('\n')
}

/** Returns the index of the first line from `start` that does not continue. */
function endOf(lines: readonly string[], start: number, continues: (line: string) => boolean): number {
  let end = start
  while (end < lines.length && continues(lines[end]!)) end++
  return end
}

function machineIn(line: string): [letter: string, description: string][] {
  const [, letter, description] = MACHINE.exec(line) ?? []
  return letter && description ? [[letter, description]] : []
}

function rowIn(line: string, letters: ReadonlyMap<string, string>): [name: string, row: Row] {
  const [, cells, name, letter = ''] = ROW.exec(line) ?? []
  const machine = letters.get(letter)
  if (!cells || !name || !machine) throw new Error(`not a row of a known machine: ${line}`)
  return [name, { cells, machine }]
}

/** Returns the letter of each machine that has rows, by description. A known one keeps its letter. */
function lettered(letters: ReadonlyMap<string, string>, machines: ReadonlySet<string>): Map<string, string> {
  const byMachine = new Map([...letters].map(([letter, description]) => [description, letter]))
  const free = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter(letter => !letters.has(letter))
  const pairs = [...machines].map(machine => [machine, byMachine.get(machine) ?? free.shift()!] as const)
  return new Map(pairs.sort(([, a], [, b]) => a.localeCompare(b)))
}
