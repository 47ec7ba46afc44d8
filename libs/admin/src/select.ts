import { parseArgs } from 'node:util'
import type { AdminCommand, AdminCommands } from './commands.ts'

/** The commands of each service that is present, by its name. */
export type Offer = ReadonlyMap<string, AdminCommands>

/** A command line that names no command, or no single one. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/**
 * Returns the command that a command line names, with its arguments; undefined where it asks for help.
 * @throws {UsageError}
 */
export function selectCommand(line: readonly string[], offer: Offer): AdminCommand | undefined {
  const { values, positionals } = parse(line)
  if (values.help) return undefined
  const [name, ...args] = positionals
  if (name === undefined) throw new UsageError('command is missing')
  const { service } = values
  if (service !== undefined && !offer.has(service)) throw new UsageError(`unknown service: ${service}`)
  const found = [...offer].flatMap(([owner, commands]) => {
    const command = service === undefined || owner === service ? commandOf(commands, name) : undefined
    return command ? [{ owner, command }] : []
  })
  if (found.length > 1) {
    throw new UsageError(
      `${name} is a command of several services, use --service: ${found.map(each => each.owner).join(', ')}`,
    )
  }
  if (!found[0]) throw new UsageError(`unknown command: ${name}`)
  return withArgs(found[0].command, args)
}

function withArgs(command: AdminCommand, args: string[]): AdminCommand {
  const { args: names = [] } = command
  const [missing] = names.slice(args.length)
  if (missing !== undefined) throw new UsageError(`argument is missing: ${missing}`)
  const [surplus] = args.slice(names.length)
  if (surplus !== undefined) throw new UsageError(`unexpected argument: ${surplus}`)
  return { ...command, load: () => command.load(...args) }
}

/** Returns the text of `--help`. */
export function usageOf(offer: Offer): string {
  const labelOf = ([name, { args = [] }]: [string, AdminCommand]) => [name, ...args].join(' ')
  const labels = [...offer.values()].flatMap(commands => Object.entries(commands).map(labelOf))
  const width = Math.max(0, ...labels.map(label => label.length))
  const sections = [...offer].map(([service, commands]) => {
    const lines = Object.entries(commands).map(each => `  ${labelOf(each).padEnd(width)}  ${each[1].summary}\n`)
    return `\n${service}:\n${lines.join('')}`
  })
  return `${HEAD}${sections.join('')}${TAIL}`
}

const HEAD = `Administers the services that are installed here.

  rollcall-admin [--service NAME] COMMAND [ARGUMENT …]
`
const TAIL = `
Takes the settings of the service from the environment. --service is needed for a command of several services.
Ends with 0 when the command is done, 1 when it failed, 2 when the command line is not valid.
`

function commandOf(commands: AdminCommands, name: string): AdminCommand | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined
}

function parse(args: readonly string[]) {
  const options = { help: { type: 'boolean', short: 'h' }, service: { type: 'string' } } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
