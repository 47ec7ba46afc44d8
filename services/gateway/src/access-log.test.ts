import assert from 'node:assert/strict'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { StopStep } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { batchedLogger } from './access-log.ts'

describe('the batched log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'access-log-'))
  after(() => rmSync(folder, { recursive: true }))

  const openLog = (name: string) => {
    const file = join(folder, name)
    const stops: StopStep[] = []
    const logger = batchedLogger('info', { onStop: (_name, stop) => void stops.push(stop) }, openSync(file, 'w'))
    const stop = () => stops[0]!(new AbortController().signal)
    return { logger, stop, lines: () => readFileSync(file, 'utf8').split('\n').filter(Boolean) }
  }

  it('is written soon', async () => {
    const { logger, lines, stop } = openLog('soon')
    logger.info({ status: 200 }, 'request')
    await eventually('a line is written', () => lines().length)
    assert.equal(JSON.parse(lines()[0]!).status, 200)
    await stop()
  })

  it('is written to the last line by stopping', async () => {
    const { logger, lines, stop } = openLog('last')
    for (let number = 0; number < 1_000; number++) logger.info({ number }, 'request')
    await stop()
    assert.deepEqual(
      lines().map(line => JSON.parse(line).number),
      Array.from({ length: 1_000 }, (_, number) => number),
    )
  })
})
