import { parseArgs } from 'node:util'
import type { StartImportBody } from '@rollcall/sdk'
import { UsageProblem } from './problem.ts'

/** A command: what to do, and at which gateway. */
export type Command = {
  /** The gateway, without a trailing slash. */
  url: string
  token: string
  task: ImportTask | UndoTask
}

/** Imports a file. */
export type ImportTask = {
  kind: 'import'
  file: string
  /** Header to target; null for the suggested mapping. */
  mapping: Record<string, string> | null
  /** The other options of the import. */
  settings: Required<Omit<StartImportBody, 'importId' | 'mapping'>>
  /** Where failed rows are saved. */
  errorsFile: string
  /** Starts without asking. */
  confirmed: boolean
}

/** Undoes an import. */
export type UndoTask = { kind: 'undo'; jobId: string }

export const USAGE = `Imports contacts from a CSV file.

  npm run import -- FILE [options]
  npm run import -- --undo JOB

  --url URL            the gateway (or ROLLCALL_URL; http://localhost:8080)
  --token TOKEN        an API token (or ROLLCALL_TOKEN)
  --map HEADER=TARGET  maps a column to email, name, tags, unsubscribed or an attribute; once for each column.
                       Without it, the suggested mapping is shown and used
  --strategy WHAT      what happens to known contacts: update (default) or skip
  --empty WHAT         what a blank cell does to a known value: ignore (default) or clear
  --tags A,B           tags for every imported contact
  --list ID            a list that every imported contact is added to; can be repeated
  --dry-run            counts and shows the first changes, writes nothing
  --errors FILE        where failed rows are saved (FILE.errors.csv)
  --yes                starts without asking
  --undo JOB           undoes an import; contacts changed since are kept
  --help

Ends with 0 when the job is complete, 1 when it is not, 2 when the command is not valid.
`

const options = {
  url: { type: 'string' },
  token: { type: 'string' },
  map: { type: 'string', multiple: true },
  strategy: { type: 'string', default: 'update' },
  empty: { type: 'string', default: 'ignore' },
  tags: { type: 'string', multiple: true },
  list: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean', default: false },
  errors: { type: 'string' },
  yes: { type: 'boolean', default: false },
  undo: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

/**
 * Reads the command line.
 * @returns null for --help
 * @throws {UsageProblem}
 */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command | null {
  const { values, positionals } = parsed(args)
  if (values.help) return null
  const url = (values.url ?? env.ROLLCALL_URL ?? 'http://localhost:8080').replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new UsageProblem(`--url: ${url} is not a URL`)
  const token = values.token ?? env.ROLLCALL_TOKEN
  if (!token) throw new UsageProblem('--token (or ROLLCALL_TOKEN) is missing')

  if (values.undo !== undefined) {
    if (positionals.length > 0) throw new UsageProblem('--undo takes no file')
    return { url, token, task: { kind: 'undo', jobId: values.undo } }
  }
  const [file, surplus] = positionals
  if (file === undefined) throw new UsageProblem('file is missing')
  if (surplus !== undefined) throw new UsageProblem(`unexpected argument: ${surplus}`)
  const settings = {
    duplicateStrategy: oneOf('--strategy', values.strategy, ['update', 'skip']),
    emptyValues: oneOf('--empty', values.empty, ['ignore', 'clear']),
    tags: (values.tags ?? []).flatMap(tags => tags.split(',')).filter(tag => tag.trim() !== ''),
    listIds: values.list ?? [],
    dryRun: values['dry-run'],
  }
  const mapping = values.map ? readMapping(values.map) : null
  const errorsFile = values.errors ?? `${file.replace(/\.csv$/i, '')}.errors.csv`
  return { url, token, task: { kind: 'import', file, mapping, settings, errorsFile, confirmed: values.yes } }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageProblem(error instanceof Error ? error.message : String(error))
  }
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find(each => each === value)
  if (found === undefined) throw new UsageProblem(`${name}: ${value} is not ${allowed.join(' or ')}`)
  return found
}

/** Reads pairs of header and target, split at the last `=`: a header can contain one. */
function readMapping(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map(pair => {
    const at = pair.lastIndexOf('=')
    if (at < 1 || at === pair.length - 1) throw new UsageProblem(`--map: ${pair} is not HEADER=TARGET`)
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(entries)
}
