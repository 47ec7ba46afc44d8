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

test('the tour of the README works as it stands', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(match => match[1])
  assert.equal(blocks.length, 3)
  const stack = await startStack()
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-tour-'))
  try {
    const env = { ...process.env, BASE: stack.urls[0], EMAIL: OWNER.email, PASSWORD: OWNER.password }
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', blocks.join('\n')], {
      cwd: folder,
      env,
      timeout: scaledTimeout(60_000),
    })
    assert.match(
      stdout,
      /"state":"completed","progress":100,"result":\{"total":3,"created":2,"updated":0,"unchanged":0,"skipped":0,"failed":1/,
    )
    assert.match(stdout, /"message":"E-mail must be an email address"/)
    assert.match(stdout, /"email":"two@example.com".*"totalDocs":1,/)
    assert.match(stdout, /^one@example\.com,Contact One,false,false,tour,[^,]+,"Engines, Ltd"\r?$/m)
  } finally {
    await rm(folder, { recursive: true, force: true })
    await stack.stop()
  }
})
