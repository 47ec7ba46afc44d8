import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { followMails, type KeptMail } from './mails.ts'

test('new mails in the folder are reported once, older ones are not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mails-'))
  const write = (name: string, to: string) =>
    writeFileSync(join(folder, name), `To: ${to}\r\nSubject: A long\r\n one\r\n\r\nTo: nobody\r\n`)
  const reported: KeptMail[] = []
  write('1.eml', 'old@example.com')
  const stop = followMails(folder, mail => reported.push(mail))
  try {
    write('2.eml.part', 'half@example.com')
    write('3.eml', 'new@example.com')
    for (let tries = 0; tries < 200 && reported.length === 0; tries++) await sleep(20)
    await sleep(400)
    assert.deepEqual(reported, [{ to: 'new@example.com', subject: 'A long one', file: join(folder, '3.eml') }])
  } finally {
    stop()
    rmSync(folder, { recursive: true })
  }
})
