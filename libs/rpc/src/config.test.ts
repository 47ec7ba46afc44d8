import assert from 'node:assert/strict'
import { it } from 'node:test'
import { address } from './config.ts'

it('the address of a service is host:port or a dns:/// name', () => {
  for (const text of [
    'identity:50051',
    '127.0.0.1:1',
    '[::1]:50051',
    'dns:///identity.rollcall.svc:50051',
    'dns://10.0.0.1:53/a:1',
  ])
    assert.equal(address().parse(text), text)
  for (const text of [
    'identity',
    'localhost',
    'http://identity:50051',
    'identity:port',
    '::1:50051',
    ' a:1',
    'a:1/',
    '',
  ])
    assert.throws(() => address().parse(text), /expected host:port/, text)
})
