import assert from 'node:assert/strict'
import { it } from 'node:test'
import { timeLeft } from './time-left.ts'

it('a duration is told in minutes and seconds, never below zero', () => {
  assert.equal(timeLeft(30 * 60_000), '30:00')
  assert.equal(timeLeft(65_999), '1:05')
  assert.equal(timeLeft(-1), '0:00')
})
