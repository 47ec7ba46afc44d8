import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import protobuf from 'protobufjs'
import { jsonFieldsOf } from './json-fields.ts'
import { loadRoot } from './root.ts'

const root = loadRoot()
protobuf.parse(
  `syntax = "proto3";
  package rollcall.trial.v1;
  import "rollcall/options.proto";
  message Plain { string name = 1; }
  message Row { string values = 1 [(rollcall.rule) = { json: OBJECT }]; int32 number = 2; }
  message Sample {
    optional string given = 1 [(rollcall.rule) = { json: TEXTS }];
    string any = 2 [(rollcall.rule) = { json: ANY }];
    repeated Row rows = 3;
    Row row = 4;
    Plain plain = 5;
  }`,
  root,
  { keepCase: false },
)
root.resolveAll()

const sample = jsonFieldsOf(root.lookupType('rollcall.trial.v1.Sample'))!

describe('the JSON fields of a message', () => {
  it('are none where it has none', () => {
    assert.equal(jsonFieldsOf(root.lookupType('rollcall.trial.v1.Plain')), undefined)
  })

  it('are text on the wire, and come back as they were', () => {
    const message = {
      given: ['a'],
      any: null,
      rows: [{ values: { a: 1 }, number: 1 }],
      row: { values: { b: [null] }, number: 2 },
      plain: { name: 'x' },
    }
    const before = structuredClone(message)
    const encoded = sample.encode(message)
    assert.deepEqual(encoded, {
      given: '["a"]',
      any: 'null',
      rows: [{ values: '{"a":1}', number: 1 }],
      row: { values: '{"b":[null]}', number: 2 },
      plain: { name: 'x' },
    })
    assert.deepEqual(message, before)
    assert.deepEqual(sample.decode(encoded), before)
  })

  it('keep a key that reads as a prototype', () => {
    const values = JSON.parse('{"__proto__":1}')
    const [row] = sample.decode(sample.encode({ rows: [{ values }] })).rows as { values: object }[]
    assert.deepEqual(Object.keys(row!.values), ['__proto__'])
  })

  it('are empty where the wire leaves them out, and absent where they are optional', () => {
    const decoded = sample.decode({ any: '', rows: [{ values: '', number: 0 }], row: null })
    assert.deepEqual(decoded, { any: null, rows: [{ values: {}, number: 0 }], row: null })
  })
})
