import assert from 'node:assert/strict'
import { it } from 'node:test'
import { mappingProblem, samplesOf, withTarget } from './mapping.ts'

it('a mapping needs email and name, each target once', () => {
  assert.equal(mappingProblem({ A: 'email', B: 'name', C: 'plan' }), undefined)
  assert.deepEqual(mappingProblem({ A: 'email' }), { kind: 'required' })
  assert.deepEqual(mappingProblem({ A: 'email', B: 'name', C: 'name' }), { kind: 'twice', target: 'name' })
})

it('a column gets another target, or none', () => {
  assert.deepEqual(withTarget({ A: 'email' }, 'B', 'name'), { A: 'email', B: 'name' })
  assert.deepEqual(withTarget({ A: 'email' }, 'A', 'name'), { A: 'name' })
  assert.deepEqual(withTarget({ A: 'email' }, 'A', null), {})
})

it('samples are the first values that say something', () => {
  assert.deepEqual(samplesOf([{ A: ' ' }, { A: 'x ' }, {}], 'A'), ['x'])
})
