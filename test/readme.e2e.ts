import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { OWNER, startStack } from './stack.ts'

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..')

test('the tours of the README work as they stand', async () => {
  const readme = await readFile(join(REPOSITORY, 'README.md'), 'utf8')
  const blocksOf = (language: string) =>
    [...readme.matchAll(new RegExp(`^\`{3}${language}\n(.*?)^\`{3}`, 'gms'))].map(match => match[1]!)
  const blocks = blocksOf('sh')
  assert.equal(blocks.length, 4)
  const [program = '', ...more] = blocksOf('ts')
  assert.equal(more.length, 0)
  const stack = await startStack()
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-tour-'))
  try {
    const env = { ...process.env, BASE: stack.urls[0], EMAIL: OWNER.email, PASSWORD: OWNER.password }
    const { stdout } = await run(
      'bash',
      ['-euo', 'pipefail', '-c', [...blocks, 'echo', 'echo "TOKEN=$TOKEN"'].join('\n')],
      {
        cwd: folder,
        env,
        timeout: scaledTimeout(60_000),
      },
    )
    assert.match(
      stdout,
      /"state":"completed","progress":100,"result":\{"created":2,"updated":0,"unchanged":0,"skipped":0,"failed":1,.*"total":3,/,
    )
    assert.match(stdout, /"message":"E-mail must be an email address"/)
    assert.match(stdout, /"email":"two@example.com".*"totalDocs":1,/)
    assert.match(stdout, /"subject":"News for Engines, Ltd","html":"<p>Hello Contact One<\/p>/)
    assert.match(stdout, /"success":false,"message":"invalid field -> sender: there is no default sender"/)
    assert.match(stdout, /^one@example\.com,Contact One,false,false,tour,[^,]+,"Engines, Ltd"\r?$/m)

    const TOKEN = /^TOKEN=(.*)$/m.exec(stdout)?.[1]
    const bySdk = await run(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      cwd: REPOSITORY,
      env: { ...env, TOKEN },
      timeout: scaledTimeout(60_000),
    })
    assert.equal(
      bySdk.stdout,
      [
        '1 created, 1 failed: E-mail must be an email address',
        '3 imported',
        'Contact Three <three@example.com>',
        '409 record.duplicate email\n',
      ].join('\n'),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
    await stack.stop()
  }
})
