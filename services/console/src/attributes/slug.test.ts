import assert from 'node:assert/strict'
import { it } from 'node:test'
import { slugOf } from './slug.ts'

it('suggests slugs that the API takes', () => {
  assert.equal(slugOf('Trial ends'), 'trial_ends')
  assert.equal(slugOf(' 2nd Größe! '), 'nd_gro_e')
  assert.equal(slugOf('x'.repeat(50)).length, 40)
})
