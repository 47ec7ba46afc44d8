import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CsvFormat, defaultLimits } from '@rollcall/csv'
import { personOf } from '@rollcall/service'
import type { Scope } from '@rollcall/store'
import { type ClientSession, mongo, Types } from 'mongoose'
import { eraseRows } from './erase-rows.ts'
import { CHUNK_BYTES, type Chunk } from './upload.model.ts'

const ids = { organizationId: 'a'.repeat(24), contactId: 'b'.repeat(24) }

/** Returns a file after the erasure of addresses, and the number of erased rows. */
async function erased(file: Buffer, encoding: CsvFormat['encoding'], emailKeys: string[]) {
  const pieces = Array.from({ length: Math.ceil(file.length / CHUNK_BYTES) }, (_, number) => ({
    _id: new Types.ObjectId(),
    number,
    data: new mongo.Binary(file.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)),
  }))
  const chunks = {
    findOne: async (filter: { number: number }) => pieces[filter.number] ?? null,
    updateOne: async ({ _id }: { _id: Types.ObjectId }, { $set }: { $set: Partial<Chunk> }) =>
      Object.assign(pieces.find(piece => piece._id === _id)!, $set),
  } as unknown as Scope<Chunk>
  const start = { offset: 0, row: 0, line: 1 }
  const format: CsvFormat = { encoding, delimiter: ',', headers: ['a', 'b'], start }
  const person = personOf({ ...ids, emailKeys, names: [] })
  const commit = (change: (tx: ClientSession) => Promise<void>) => change(undefined as never)
  const stored = { upload: new Types.ObjectId(), format }
  const count = await eraseRows(chunks, stored, person, { limits: defaultLimits, commit })
  return { count, file: Buffer.concat(pieces.map(({ data }) => Buffer.from(data.buffer))) }
}

/** Returns lines that end near the border of a chunk, so that the lines behind them lie across it. */
function filler(chunkLength: number, lineBreak: string): string {
  const line = 'x'.repeat(1000) + lineBreak
  return line.repeat(chunkLength / line.length - 1) + 'x'.repeat((chunkLength % line.length) + line.length - 20)
}

type Coding = { encode(text: string): Buffer; decode(file: Buffer): string }

const codings: [CsvFormat['encoding'], Coding][] = [
  ['utf-8', { encode: text => Buffer.from(text), decode: file => file.toString() }],
  ['windows-1252', { encode: text => Buffer.from(text, 'latin1'), decode: file => file.toString('latin1') }],
  ['utf-16le', { encode: text => Buffer.from(text, 'utf16le'), decode: file => file.toString('utf16le') }],
  [
    'utf-16be',
    { encode: text => Buffer.from(text, 'utf16le').swap16(), decode: file => file.swap16().toString('utf16le') },
  ],
]

describe('the erasure of rows', () => {
  for (const [encoding, { encode, decode }] of codings)
    it(`finds an address by each spelling of its domain, in ${encoding}`, async () => {
      const named = ['ann@bücher.example', 'ANN@BÜCHER.EXAMPLE', 'ann@xn--bcher-kva.example']
      const others = ['bob@bücher.example', 'ann@bücher.example.org', 'Grüße']
      const rows = named.flatMap((address, index) => [`Ann,"${address}"`, `Bob,${others[index]}`])
      for (const lineBreak of ['\n', '\r\n', '\r']) {
        const before = encode([filler(CHUNK_BYTES / encode('x').length, lineBreak), ...rows].join(lineBreak))
        const { count, file } = await erased(before, encoding, ['ann@xn--bcher-kva.example', 'ann@example.com'])
        assert.deepEqual([count, file.length], [3, before.length])
        const shown = decode(file).replace(/-+/g, '-').split(lineBreak)
        assert.deepEqual(
          shown.slice(-rows.length),
          rows.map(row => (row.startsWith('Ann') ? '-,"-"' : row)),
        )
      }
    })

  it('finds lines behind letters whose lower case is longer', async () => {
    const file = Buffer.from('İİİİİİ\nAnn,ann@example.com\nBob', 'utf16le')
    const { count, file: after } = await erased(file, 'utf-16le', ['ann@example.com'])
    assert.deepEqual([count, after.toString('utf16le')], [1, 'İİİİİİ\n---,---------------\nBob'])
  })

  for (const [encoding, { encode, decode }] of codings.slice(2))
    it(`leaves half a character at the end as it is, in ${encoding}`, async () => {
      const half = Buffer.from('x')
      for (const [row, expected] of [
        ['Bob,b@example.com', 'Bob,b@example.com'],
        ['Ann,ann@example.com', '---,---------------'],
      ] as const) {
        const before = Buffer.concat([encode(row), half])
        const { file } = await erased(before, encoding, ['ann@example.com'])
        assert.deepEqual([file.length, file.subarray(-1)], [before.length, half])
        assert.equal(decode(Buffer.from(file.subarray(0, -1))), expected)
      }
    })

  it('takes whole rows, with the line breaks in their cells', async () => {
    const rows = ['Bob,"x\ny"', 'Ann,"Oslo\n""ann@example.com"""', '"Ann\r\nann@example.com","Oslo\n"', 'Bob,y']
    const { count, file } = await erased(Buffer.from(rows.join('\n')), 'utf-8', ['ann@example.com'])
    const without = ['---,"----\n""---------------"""', '"---\r\n---------------","----\n"']
    assert.deepEqual([count, file.toString()], [2, [rows[0], ...without, rows[3]].join('\n')])
  })

  it('finds nothing of a person without an address', async () => {
    const file = Buffer.from('Ann,ann@example.com\n')
    assert.deepEqual(await erased(file, 'utf-8', []), { count: 0, file })
  })
})
