#!/usr/bin/env node
// `rollcall-admin COMMAND`: runs a command of the installed services. An image has one service, a checkout has all.
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AdminCommands } from './commands.ts'
import { type Offer, selectCommand, UsageError, usageOf } from './select.ts'

const INVALID_COMMAND = 2
const services = join(import.meta.dirname, '../../../services')

async function offered(): Promise<Offer> {
  const offer = new Map<string, AdminCommands>()
  for (const file of globSync('*/src/admin.ts', { cwd: services }).sort()) {
    const { commands } = (await import(join(services, file))) as { commands: AdminCommands }
    offer.set(basename(join(file, '../..')), commands)
  }
  return offer
}

const offer = await offered()
try {
  const command = selectCommand(process.argv.slice(2), offer)
  if (command) await command.load()
  else process.stdout.write(usageOf(offer))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usageOf(offer)}`)
  process.exitCode = INVALID_COMMAND
}
