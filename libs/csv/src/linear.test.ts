import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createDecoder } from './decode.ts'
import { detectFormat, doubtUtf8 } from './detect.ts'
import { correctionCheck } from './error-file.ts'
import {
  csvRow,
  joinTags,
  openCsv,
  readBoolean,
  readCsv,
  readDate,
  readEmail,
  readNumber,
  readOption,
  readTags,
  readText,
  splitTags,
  suggestMapping,
  unguard,
} from './index.ts'

/** One unit of text, repeated to any length between a beginning and an end. */
type Shape = [beginning: string, unit: string, end: string]
type Reader = (text: string) => unknown

const LARGE = 64 * 1024
/** Reading a text is compared with reading as many of its parts: linear work is the same, quadratic work this many times. */
const PARTS = 16
const MAX_GROWTH = 5
/** The CPU time of a thread is exact to a few milliseconds. Quadratic readers take several times as long. */
const NEGLIGIBLE_MS = 50
/** Comparisons that all have to say quadratic: compilation and garbage collection distort some. */
const ROUNDS = 3

const textOf = ([beginning, unit, end]: Shape, length: number) =>
  beginning + unit.repeat(Math.ceil(length / unit.length)) + end

/** CPU milliseconds of this thread to read a text so many times. */
async function workOf(read: Reader, text: string, times: number): Promise<number> {
  const before = process.threadCpuUsage()
  for (let time = 0; time < times; time++) await Promise.resolve(read(text)).catch(() => undefined)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Whether the work grows linearly with the length of such texts, not quadratically. */
async function isLinear(read: Reader, shape: Shape, length = LARGE): Promise<boolean> {
  const safely: Reader = text => {
    try {
      return read(text)
    } catch {
      return undefined // rejected after the inspection
    }
  }
  const whole = () => workOf(safely, textOf(shape, length), 1)
  const inParts = () => workOf(safely, textOf(shape, length / PARTS), PARTS)
  let work = await whole()
  if (work < NEGLIGIBLE_MS) return true
  for (let round = 1; ; round++) {
    if (work < MAX_GROWTH * (await inParts())) return true
    if (round === ROUNDS) return false
    work = await whole()
  }
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const otherEncoding: Reader = text => {
  const doubt = doubtUtf8()
  const bytes = latin1(`${text}\xff`)
  doubt.see(bytes, createDecoder('utf-8').decode(bytes))
  return doubt.otherEncoding()
}
const wholeFile: Reader = async text => {
  async function* source() {
    yield latin1(`email,name\n${text}\n`)
  }
  const { format, body } = await openCsv(source())
  const check = correctionCheck(['email', '_uncorrected'])!
  for await (const { rows } of readCsv(body, format)) for (const row of rows) check(row)
}

const readers: [string, Reader][] = [
  ['readNumber', readNumber],
  ['readDate', readDate],
  ['readBoolean', readBoolean],
  ['readEmail', readEmail],
  ['readEmail of a short one', text => readEmail(`${text.slice(0, 200)}@example.com`)],
  ['readText', text => readText(text, 200)],
  ['readOption', text => readOption(text, ['free', 'paid'])],
  ['readTags', text => readTags(text, { count: 100, length: 100 })],
  ['splitTags and joinTags', text => joinTags(splitTags(text))],
  ['unguard', unguard],
  ['csvRow', text => csvRow([text, text])],
  ['suggestMapping', text => suggestMapping([text], ['company'])],
  ['the encoding', otherEncoding],
  ['the format', text => detectFormat(latin1(text), { complete: true })],
  ['a whole file', wholeFile],
]

const crafted: Shape[] = [
  ['', 'a', '\xff'],
  ['\xff,', 'a', ''],
  ['-', '1', 'x'],
  ["'-", '1', 'x'],
  ['', '1', '.x'],
  ['1e', '1', 'x'],
  ['a', '\u0301\u0316', ''],
  ['', '"', ''],
  ['', '"""\n', ''],
  ['', '"a\n', ''],
  ['', 'x\n"a"b\n', ''],
  ['"a"', ' ', 'x'],
  ['', ' ', 'x'],
  ['', "'", 'x'],
  ['', 'x,', ''],
  ['', '\r', ''],
  ['', '\xff,', ''],
  ['', '\0,', ''],
  ['', '|', ''],
  ['', '\\|', ''],
  ['', 'a.', '@example.com'],
  ['a@', 'a-', '.'],
]
const piece = fc.string({
  unit: fc.constantFrom(...'\'"=+-@;,|\\\t\r\n .019eEaZ\0\xa0\xe9\xff\u0301\u0316＝'),
  maxLength: 4,
})
const shapes = fc.tuple(
  piece,
  piece.filter(unit => unit !== ''),
  piece,
)

describe('reading and writing files takes linear time', () => {
  for (const [name, read] of readers) {
    it(name, async () => {
      for (const shape of crafted) assert.ok(await isLinear(read, shape), JSON.stringify(shape))
      await fc.assert(
        fc.asyncProperty(shapes, async shape => assert.ok(await isLinear(read, shape))),
        { numRuns: 30 },
      )
    })
  }

  const naive: [string, Reader, Shape, length: number][] = [
    [
      'words looked for from every character',
      text => text.match(/[^\s,;|"@.]*[\x80-\xff][^,;|"\r\n\t]*/g),
      ['', 'a', ''],
      (3 * LARGE) / 16,
    ],
    [
      'digits that two parts of an expression can take',
      text => /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text),
      ['-', '1', 'x'],
      (3 * LARGE) / 16,
    ],
    ['accents put in order', text => text.normalize('NFKD'), ['a', '\u0301\u0316', ''], (3 * LARGE) / 8],
  ]
  for (const [name, read, shape, length] of naive) {
    it(`detects a quadratic reader: ${name}`, async () => assert.equal(await isLinear(read, shape, length), false))
  }
})
