import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from './model.ts'

/**
 * Decodes the bytes of a file chunk by chunk, so that the bytes of any decoded text can be counted. Invalid bytes
 * become lone surrogates, which valid text never contains: `text.isWellFormed()` detects damage cheaply.
 */
export type Decoder = {
  /** Returns the text of these bytes. An incomplete character at the end is kept for the next call. */
  decode(bytes: Buffer): string
  /** Returns the text of the kept bytes at the end of the file. */
  end(): string
  /** Returns the number of bytes that a decoded text had in the file. */
  byteLength(text: string): number
}

/** Creates a decoder for this encoding. The input must not contain the byte order mark. */
export function createDecoder(encoding: Encoding): Decoder {
  switch (encoding) {
    case 'utf-8':
      return bufferingIncomplete(unfinishedUtf8, decodeUtf8, utf8Length)
    case 'utf-16le':
      return bufferingIncomplete(unfinishedUtf16(1), decodeUtf16le, text => 2 * text.length)
    case 'utf-16be':
      return bufferingIncomplete(unfinishedUtf16(0), decodeUtf16be, text => 2 * text.length)
    default:
      return bufferingIncomplete(
        () => 0,
        singleByteDecoding(encoding),
        text => text.length,
      )
  }
}

/** Returns how many of the last bytes are the start of an incomplete character. */
type Unfinished = (bytes: Buffer) => number

function bufferingIncomplete(
  unfinished: Unfinished,
  decode: (bytes: Buffer) => string,
  byteLength: Decoder['byteLength'],
): Decoder {
  let kept: Buffer = Buffer.alloc(0)
  return {
    decode(bytes) {
      const all = kept.length === 0 ? bytes : Buffer.concat([kept, bytes])
      const end = all.length - unfinished(all)
      kept = Buffer.from(all.subarray(end))
      return decode(all.subarray(0, end))
    },
    end() {
      const rest = kept
      kept = Buffer.alloc(0)
      return decode(rest)
    },
    byteLength,
  }
}

/** Returns the character for an invalid byte: U+DC80 to U+DCFF. */
const damagedByte = (byte: number): string => String.fromCharCode(0xdc00 + byte)

/** Returns the length of the UTF-8 sequence that this byte starts; 0 if it starts none. */
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
  // `byteLength` counts three bytes for a lone surrogate, which was one.
  return text.isWellFormed() ? length : length - 2 * damageOf(text)
}

/** Returns how many characters of a decoded text stand for invalid bytes. */
export function damageOf(text: string): number {
  return text.isWellFormed() ? 0 : text.match(/\p{Surrogate}/gu)!.length
}

/** `highByte` is the index of the high byte within a unit; it identifies a high surrogate. */
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
