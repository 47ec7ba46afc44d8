import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { type Api, bodyOf, makeToken } from '../api.ts'
import type { TestStack } from '../stack.ts'
import { newOrganization } from './organizations.ts'
import { startImportStack } from './shared-stack.ts'

const program = join(import.meta.dirname, '../../cli/src/main.ts')
type Ended = { code: number | null; out: string; log: string }

describe('npm run import', () => {
  let stack: TestStack
  let folder: string
  before(async () => {
    stack = await startImportStack()
    folder = await mkdtemp(join(tmpdir(), 'rollcall-import-'))
  })
  after(async () => {
    await stack.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function organization(): Promise<{ api: Api; token: string }> {
    return makeToken(await newOrganization(stack, { company: 'string' }))
  }
  const start = (token: string, args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], {
      env: { ...process.env, INIT_CWD: folder, ROLLCALL_URL: stack.urls[0], ROLLCALL_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  async function end(child: ChildProcess): Promise<Ended> {
    const [[code], out, log] = await Promise.all([once(child, 'close'), text(child.stdout!), text(child.stderr!)])
    return { code: code as number | null, out, log }
  }
  const run = (token: string, ...args: string[]) => end(start(token, args))
  const count = async (api: Api) => (await bodyOf(api.get<{ totalDocs: number }>('/api/audience'))).totalDocs

  it('imports a file by the suggested mapping, saves what failed, and that can be corrected and imported', async () => {
    const { api, token } = await organization()
    await writeFile(join(folder, 'people.csv'), 'E-mail;Name;Company\na@example.com;A;Acme\nb@;B;\nc@example.com;C;\n')
    const { code, out, log } = await run(token, 'people.csv', '--tags', 'x,y')
    assert.equal(code, 0, log)
    assert.match(out, /people\.csv: 3 rows, utf-8, delimiter ";"/)
    assert.match(out, /E-mail +email\n +Name +name\n +Company +company/)
    assert.match(out, /import [0-9a-f]{24}: complete after .* s\n +created +2\n/)
    assert.match(out, /line 3: E-mail must be an email address \(b@\)/)
    assert.match(log, /importing 100%/)
    assert.doesNotMatch(log, /\r/)
    assert.equal(await count(api), 2)

    const errors = await readFile(join(folder, 'people.errors.csv'), 'utf8')
    await writeFile(join(folder, 'corrected.csv'), errors.replace('b@', 'b@example.com'))
    assert.equal((await run(token, 'corrected.csv')).code, 0)
    assert.equal(await count(api), 3)
  })

  it('maps columns by hand, tries first, and takes an import back', async () => {
    const { api, token } = await organization()
    await writeFile(join(folder, 'odd.csv'), 'a=b,who\na@example.com,A\n')
    const mapping = ['--map', 'a=b=email', '--map', 'who=name']
    const tried = await run(token, 'odd.csv', ...mapping, '--dry-run')
    assert.equal(tried.code, 0, tried.log)
    assert.match(tried.out, /row 1: a@example\.com would be created/)
    assert.equal(await count(api), 0)

    const { out } = await run(token, 'odd.csv', ...mapping)
    const jobId = /import ([0-9a-f]{24}): complete/.exec(out)?.[1] ?? ''
    assert.equal(await count(api), 1)
    const undone = await run(token, '--undo', jobId)
    assert.equal(undone.code, 0, undone.log)
    assert.match(undone.out, /removed +1\n/)
    assert.equal(await count(api), 0)
    const again = await run(token, '--undo', jobId)
    const undoId = /^undo ([0-9a-f]{24}): started\n/.exec(undone.out)?.[1]
    assert.ok(undoId)
    assert.equal(again.code, 0, again.log)
    assert.equal(again.out, undone.out.replace(/.*\n/, `the import was already undone, by ${undoId}\n`))
    assert.deepEqual(await run(token, '--undo', undoId), { code: 1, out: '', log: 'only an import can be undone\n' })
  })

  it('cancels politely when it is interrupted', async () => {
    const { api, token } = await organization()
    const rows = Array.from({ length: 10_000 }, (_, index) => `p${index}@example.com,P ${index}`)
    await writeFile(join(folder, 'large.csv'), `email,name\n${rows.join('\n')}`)
    const child = start(token, ['large.csv'])
    const ended = end(child)
    let outMeanwhile = ''
    child.stdout!.on('data', piece => (outMeanwhile += piece))
    await eventually('the first contacts are there', () => count(api))
    assert.match(outMeanwhile, /import [0-9a-f]{24}: started\n$/)
    child.kill('SIGINT')
    const { code, out, log } = await ended
    assert.equal(code, 1)
    assert.match(log, /cancelling; rows already imported are kept/)
    assert.match(out, /import [0-9a-f]{24}: cancelled/)
    assert.ok((await count(api)) < rows.length)
  })

  it('exits with 1 and one line if the service refuses, with 2 and the usage for invalid arguments', async () => {
    const { token } = await organization()
    await writeFile(join(folder, 'empty.csv'), '')
    assert.deepEqual(await run(token, 'empty.csv'), { code: 1, out: '', log: 'the file is empty\n' })
    assert.match((await run('f'.repeat(24), 'empty.csv')).log, /^Invalid token format\. Expected orgId:secret\.\n$/)
    assert.match((await run(token, 'absent.csv')).log, /^absent\.csv is not a file that can be read\n$/)
    const away = await run(token, 'empty.csv', '--url', 'http://127.0.0.1:1')
    assert.match(away.log, /^http:\/\/127\.0\.0\.1:1 cannot be reached: .*\n$/)
    const misunderstood = await run(token, 'empty.csv', '--nope')
    assert.equal(misunderstood.code, 2)
    assert.match(misunderstood.log, /Usage|npm run import -- FILE/)
    assert.equal((await run(token, '--help')).code, 0)
  })
})
