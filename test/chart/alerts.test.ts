import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createMetrics, pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { parse } from 'yaml'
import { CHART } from './render.ts'

type Rules = { groups: { rules: { alert: string; expr: string }[] }[] }

const { groups } = parse(readFileSync(join(CHART, 'files', 'alerts.yaml'), 'utf8')) as Rules

it('RollcallEventLoopLate is about busy processes, not idle ones', async () => {
  const { metric, threshold } = comparisonOf('RollcallEventLoopLate')
  const { registry } = createMetrics('sample')
  const lag = async () => {
    const text = await registry.metrics()
    const isSampled = sampleOf(text, 'nodejs_eventloop_lag_max_seconds') > 0
    return isSampled ? sampleOf(text, metric) : undefined
  }
  // A scrape discards the first sample after it, so more than two intervals lie between two scrapes.
  const idle = async () => ((await lag()) ?? threshold) < threshold / 2
  await eventually('an idle interval', idle, { everyMs: 500 })
  const busy = async () => {
    for (const _ of [1, 2]) await block(500)
    return ((await lag()) ?? 0) > threshold
  }
  await eventually('a busy interval', busy)
})

/** Returns the metric and the threshold of an alert that compares the maximum of one metric. */
function comparisonOf(alert: string): { metric: string; threshold: number } {
  const rule = groups.flatMap(({ rules }) => rules).find(rule => rule.alert === alert) ?? assert.fail(alert)
  const [, metric = '', threshold] = /\((\w+)\{\$scope\}\) > ([\d.]+)$/.exec(rule.expr) ?? []
  return { metric, threshold: Number(threshold) }
}

function sampleOf(text: string, metric: string): number {
  return Number(new RegExp(`^${metric}\\{.*\\} (.+)$`, 'm').exec(text)?.[1] ?? assert.fail(metric))
}

/** Blocks the event loop, and then lets it take its sample. */
async function block(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; );
  await pause(1)
}
