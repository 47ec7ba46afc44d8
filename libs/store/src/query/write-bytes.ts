/** Bytes that stand for themselves in a JSON text; others are escaped. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0))
const ESCAPES = Array.from({ length: 256 }, (_, byte) =>
  PLAIN[byte] ? undefined : Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
)
const HEX = Uint8Array.from(Buffer.from('0123456789abcdef'))
const [QUOTE, MINUS, ZERO] = [0x22, 0x2d, 0x30]
const DAY_MS = 86_400_000

/** At most this many bytes are written for one byte of a text: `\u0000`. */
export const MOST_PER_BYTE = 6
// Each function writes to `target` from `at` on, which must have room, and returns where it stopped.

/** Copies bytes; for a few of them faster than `Buffer.copy`. */
export function copyBytes(target: Buffer, at: number, source: Uint8Array): number {
  for (let index = 0; index < source.length; index++) target[at++] = source[index]!
  return at
}

/** Writes UTF-8 as a JSON text in quotes. */
export function writeJsonText(target: Buffer, at: number, source: Buffer, start: number, end: number): number {
  target[at++] = QUOTE
  for (let from = start; from < end; from++) {
    const byte = source[from]!
    if (PLAIN[byte] === 1) target[at++] = byte
    else at = copyBytes(target, at, ESCAPES[byte]!)
  }
  target[at++] = QUOTE
  return at
}

/** Writes 12 bytes of an id as 24 hexadecimal digits. */
export function writeHex(target: Buffer, at: number, source: Buffer, start: number): number {
  for (let from = start; from < start + 12; from++) {
    const byte = source[from]!
    target[at++] = HEX[byte >> 4]!
    target[at++] = HEX[byte & 15]!
  }
  return at
}

/** Writes a number as JavaScript does. */
export function writeNumber(target: Buffer, at: number, value: number): number {
  if (!Number.isInteger(value) || Math.abs(value) > 0x7fffffff) return at + target.write(String(value), at, 'latin1')
  if (value < 0) target[at++] = MINUS
  const digits = Math.abs(value)
  return writeDigits(target, at, digits, lengthOfDigits(digits))
}

function lengthOfDigits(value: number): number {
  let length = 1
  for (let limit = 10; value >= limit; limit *= 10) length++
  return length
}

function writeDigits(target: Buffer, at: number, value: number, length: number): number {
  let rest = value
  for (let index = at + length - 1; index >= at; index--) {
    const shorter = Math.floor(rest / 10)
    target[index] = ZERO + (rest - shorter * 10)
    rest = shorter
  }
  return at + length
}

/** Many records are of one day. */
let known = { day: Number.NaN, text: Buffer.alloc(0) }

/** Whether a Date can hold a time in milliseconds since the epoch. */
export function isDate(time: number): boolean {
  return Math.abs(time) <= 8.64e15
}

/** Writes a time in milliseconds since the epoch as `Date.toISOString` does. A Date must be able to hold it. */
export function writeIsoDate(target: Buffer, start: number, time: number): number {
  const day = Math.floor(time / DAY_MS)
  if (day !== known.day) known = { day, text: Buffer.from(new Date(day * DAY_MS).toISOString().split('T')[0]!) }
  const ms = time - day * DAY_MS
  let at = copyBytes(target, start, known.text)
  at = writePart(target, at, 0x54 /* T */, Math.floor(ms / 3_600_000), 2)
  at = writePart(target, at, 0x3a /* : */, Math.floor(ms / 60_000) % 60, 2)
  at = writePart(target, at, 0x3a, Math.floor(ms / 1000) % 60, 2)
  at = writePart(target, at, 0x2e /* . */, ms % 1000, 3)
  target[at++] = 0x5a // Z
  return at
}

function writePart(target: Buffer, at: number, separator: number, value: number, length: number): number {
  target[at] = separator
  return writeDigits(target, at + 1, value, length)
}
