import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createMetrics } from '@rollcall/runtime'
import { createMailCounters } from './mail-counters.ts'

it('counters of mails begin with every outcome at 0, so that alerts also see the first of a process', async () => {
  const { registry, counter } = createMetrics('messaging')
  const { mailsReported } = createMailCounters({ counter })
  mailsReported.inc({ outcome: 'complained' })
  const shown = (await registry.metrics()).split('\n').filter(line => line.startsWith('rollcall_mails_'))
  const series = (name: string, outcome: string, value: number) =>
    `${name}{outcome="${outcome}",service="messaging"} ${value}`
  assert.deepEqual(shown, [
    series('rollcall_mails_ended_total', 'sent', 0),
    series('rollcall_mails_ended_total', 'bounced', 0),
    series('rollcall_mails_ended_total', 'suppressed', 0),
    series('rollcall_mails_ended_total', 'failed', 0),
    series('rollcall_mails_reported_total', 'delivered', 0),
    series('rollcall_mails_reported_total', 'bounced', 0),
    series('rollcall_mails_reported_total', 'complained', 1),
  ])
})
