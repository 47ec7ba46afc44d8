import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProgress } from './progress.ts'

function shown(output: { isTTY: boolean; columns?: number }): string {
  let text = ''
  const progress = createProgress({ ...output, write: more => (text += more) }, 'importing')
  for (const share of [0, 0.25, 0.5, 1]) progress.show(share, 'of 10')
  progress.end()
  return text
}

describe('progress', () => {
  it('is a bar that moves on a terminal, and no wider than that', () => {
    const [, ...lines] = shown({ isTTY: true }).split('\r\u001b[K')
    assert.equal(lines[1], 'importing ████████░░░░░░░░░░░░░░░░░░░░░░  25% of 10')
    assert.equal(lines[3], 'importing ██████████████████████████████ 100% of 10\n')
    assert.ok(
      shown({ isTTY: true, columns: 20 })
        .split('\r\u001b[K')
        .every(line => line.trimEnd().length < 20),
    )
  })

  it('is an occasional line elsewhere, without cursor movement', () => {
    assert.equal(shown({ isTTY: false }), 'importing   0% of 10\nimporting 100% of 10\n')
  })
})
