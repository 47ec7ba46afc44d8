import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import type { AdminCommands } from './commands.ts'
import { type Offer, selectCommand, UsageError, usageOf } from './select.ts'

const command = (summary: string) => ({ summary, load: async () => undefined })
const offer: Offer = new Map([
  ['one', { migrate: command('of one'), repair: command('repairs') }],
  ['two', { migrate: command('of two') }],
])

describe('rollcall-admin', () => {
  it('finds a command by its name, and by its service where several have it', () => {
    assert.equal(selectCommand(['repair'], offer)?.summary, 'repairs')
    assert.equal(selectCommand(['--service', 'two', 'migrate'], offer)?.summary, 'of two')
    assert.equal(selectCommand(['migrate', '--service=one'], offer)?.summary, 'of one')
    assert.equal(selectCommand(['migrate'], new Map([...offer].slice(1)))?.summary, 'of two')
  })

  const refusals: [args: string[], reason: RegExp][] = [
    [[], /command is missing/],
    [['unknown'], /unknown command: unknown/],
    [['constructor'], /unknown command: constructor/],
    [['--service', 'two', 'repair'], /unknown command: repair/],
    [['--service', 'three', 'repair'], /unknown service: three/],
    [['migrate'], /several services, use --service: one, two/],
    [['repair', 'now'], /unexpected argument: now/],
    [['repair', '--now'], /--now/],
  ]
  for (const [args, message] of refusals) {
    it(`refuses ${JSON.stringify(args)}`, () => {
      assert.throws(
        () => selectCommand(args, offer),
        error => error instanceof UsageError && message.test(error.message),
      )
    })
  }

  it('hands a command its arguments, all of which are required', async () => {
    const given: string[][] = []
    const load = async (...args: string[]) => void given.push(args)
    const taking: Offer = new Map([['one', { reset: { summary: 'resets', args: ['ID', 'EMAIL'], load } }]])
    await selectCommand(['reset', '1', 'one@example.com'], taking)!.load()
    assert.deepEqual(given, [['1', 'one@example.com']])
    assert.throws(() => selectCommand(['reset', '1'], taking), { message: 'argument is missing: EMAIL' })
    assert.throws(() => selectCommand(['reset', '1', '2', '3'], taking), { message: 'unexpected argument: 3' })
    assert.match(usageOf(taking), /\n {2}reset ID EMAIL {2}resets\n/)
  })

  it('lists every command in one line', () => {
    assert.equal(selectCommand(['migrate', '--help'], offer), undefined)
    assert.match(
      usageOf(offer),
      /\none:\n {2}migrate {2}of one\n {2}repair {3}repairs\n\ntwo:\n {2}migrate {2}of two\n/,
    )
  })

  it('finds the commands of the README', async () => {
    const root = join(import.meta.dirname, '../../..')
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const ofAll = new Map<string, AdminCommands>()
    for (const file of globSync('services/*/src/admin.ts', { cwd: root })) {
      const { commands } = (await import(join(root, file))) as { commands: AdminCommands }
      ofAll.set(basename(dirname(dirname(file))), commands)
    }
    const lines = [...readme.matchAll(/`npm run admin -- (.+?)`/g)].map(([, line = '']) => line)
    assert.ok(lines.length > 0)
    for (const line of lines) assert.ok(selectCommand(line.split(' '), ofAll), line)
  })

  it('is a program that needs no settings to list its commands, and exits with 2 for an unknown one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-admin-'))
    // Like the image.
    const program = join(folder, 'rollcall-admin')
    symlinkSync(join(import.meta.dirname, 'rollcall-admin.ts'), program)
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env: { NODE_NO_WARNINGS: '1' } })
    const help = run('--help')
    assert.equal(help.status, 0, help.stderr)
    for (const name of [
      'migrate',
      'repair-counts',
      'count-hashes',
      'rotate-secrets',
      'redeliver-events',
      'create-topics',
    ]) {
      assert.match(help.stdout, new RegExp(`^ {2}${name} +\\S.*$`, 'm'))
    }
    const unknown = run('repair-everything')
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /^unknown command: repair-everything\n/)
    assert.equal(unknown.stdout, '')
    rmSync(folder, { recursive: true })
  })
})
