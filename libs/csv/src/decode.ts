import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from './model.ts'

/**
 * Turns the bytes of a file, piece by piece, into text of which every byte stays accounted for. Bytes that are no text
 * become lone surrogates, which no valid text holds: `text.isWellFormed()` tells damage anywhere, and costs nothing.
 */
export type Decoder = {
  /** Text of these bytes and of what was held back; a character cut by the piece's end waits for the next. */
  decode(bytes: Buffer): string
  /** Text of what is still held back when the file ends. */
  end(): string
  /** How many bytes of the file a decoded text was. */
  byteLength(text: string): number
}

/** A decoder for a file in this encoding. It knows no byte order mark: skip it before. */
export function createDecoder(encoding: Encoding): Decoder {
  switch (encoding) {
    case 'utf-8':
      return holdingBack(unfinishedUtf8, decodeUtf8, utf8Length)
    case 'utf-16le':
      return holdingBack(unfinishedUtf16(1), decodeUtf16le, text => 2 * text.length)
    case 'utf-16be':
      return holdingBack(unfinishedUtf16(0), decodeUtf16be, text => 2 * text.length)
    default:
      return holdingBack(
        () => 0,
        singleByteDecoding(encoding),
        text => text.length,
      )
  }
}

/** How many of the last bytes are the beginning of a character whose end is still to come. */
type Unfinished = (bytes: Buffer) => number

function holdingBack(
  unfinished: Unfinished,
  decode: (bytes: Buffer) => string,
  byteLength: Decoder['byteLength'],
): Decoder {
  let held: Buffer = Buffer.alloc(0)
  return {
    decode(bytes) {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes])
      const end = all.length - unfinished(all)
      held = Buffer.from(all.subarray(end))
      return decode(all.subarray(0, end))
    },
    end() {
      const rest = held
      held = Buffer.alloc(0)
      return decode(rest)
    },
    byteLength,
  }
}

/** A byte that could not be decoded, as a character: U+DC80 to U+DCFF. */
const damagedByte = (byte: number): string => String.fromCharCode(0xdc00 + byte)

/** Bytes of the UTF-8 sequence that this byte begins; 0 where it begins none. */
function utf8SequenceLength(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xc2) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf5 ? 4 : 0
}

const unfinishedUtf8: Unfinished = bytes => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte >= 0xc0) return utf8SequenceLength(byte) > back ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

function decodeUtf8(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return bytes.toString()
  let text = ''
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline === -1 ? bytes.length : newline + 1
    const line = bytes.subarray(start, end)
    text += isUtf8(line) ? line.toString() : decodeDamagedUtf8(line)
    start = end
  }
  return text
}

function decodeDamagedUtf8(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at]!
    const end = at + utf8SequenceLength(lead)
    const valid = end > at && (lead < 0x80 || isUtf8(bytes.subarray(at, end)))
    text += valid ? bytes.toString('utf8', at, end) : damagedByte(lead)
    at = valid ? end : at + 1
  }
  return text
}

function utf8Length(text: string): number {
  const length = Buffer.byteLength(text)
  // A lone surrogate counts for three bytes there, and was one.
  return text.isWellFormed() ? length : length - 2 * damageOf(text)
}

/** How many characters of a decoded text stand for bytes that are no text. */
export function damageOf(text: string): number {
  return text.isWellFormed() ? 0 : text.match(/\p{Surrogate}/gu)!.length
}

/** `highByte` is the index in a unit of the byte that tells a high surrogate. */
const unfinishedUtf16 =
  (highByte: 0 | 1): Unfinished =>
  bytes => {
    const odd = bytes.length % 2
    const lastUnit = bytes.length - odd - 2
    const splitsPair = lastUnit >= 0 && (bytes[lastUnit + highByte]! & 0xfc) === 0xd8
    return splitsPair ? odd + 2 : odd
  }

function decodeUtf16le(bytes: Buffer): string {
  const odd = bytes.length % 2 === 1 ? damagedByte(0xff) : ''
  return bytes.toString('utf16le', 0, bytes.length - odd.length) + odd
}

function decodeUtf16be(bytes: Buffer): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16()
  return decodeUtf16le(even.length === bytes.length ? even : Buffer.concat([even, bytes.subarray(even.length)]))
}

function singleByteDecoding(encoding: string): (bytes: Buffer) => string {
  const decoder = new TextDecoder(encoding)
  return bytes =>
    isAscii(bytes) ? bytes.toString('latin1') : decoder.decode(bytes).replaceAll('\ufffd', damagedByte(0xff))
}
