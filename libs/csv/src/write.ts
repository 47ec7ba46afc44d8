/** The start of a cell that a spreadsheet would run as a formula, after any number of guards. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/
/**
 * A formula within a cell, after a character that a spreadsheet with other settings reads as a separator or end of row.
 * For that spreadsheet, the quotes around the cell are in mid-field and have no effect.
 */
const INNER_FORMULA = /(?<=[;\t\r\n])(?='*"*[=+\-@＝＋－＠])/g
const INNER_GUARD = /(?<=[;\t\r\n])'(?='*"*[=+\-@＝＋－＠])/g
const PLAIN_NUMBER = /^-(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i
const APOSTROPHE = 0x27

const isFormula = (cell: string): boolean => FORMULA.test(cell) && !PLAIN_NUMBER.test(cell)
const guardStart = (cell: string): string => (isFormula(cell) ? `'${cell}` : cell)

/**
 * Returns the cell in a form that no spreadsheet runs, whatever its list separator: each formula gets one more leading
 * `'`. `unguard` removes them.
 */
export function guard(cell: string): string {
  return guardStart(cell.replace(INNER_FORMULA, "'"))
}

/** Reverses `guard`: removes exactly one `'` from each guarded formula; leaves any other text unchanged. */
export function unguard(cell: string): string {
  const text = cell.includes("'") ? cell.replace(INNER_GUARD, '') : cell
  if (text.charCodeAt(0) !== APOSTROPHE) return text
  const rest = text.slice(1)
  return isFormula(rest) ? rest : text
}

/** A cell that needs no quotes: it has no separator, and a formula only at its start. */
const UNQUOTED = /^(?!\s)[^",;\t\r\n]*(?<!\s)$/

/** Returns one CSV line of these cells: guarded, quoted where needed, with CRLF. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: string): string {
  return UNQUOTED.test(cell) ? guardStart(cell) : `"${guard(cell).replaceAll('"', '""')}"`
}

/** Bytes that end an unquoted cell, or that more than their own cell depends on. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (UNQUOTED.test(`a${String.fromCharCode(byte)}a`) ? 1 : 0))
/** Bytes that a cell can begin and end with, unquoted and unguarded. Others than ASCII are parts of characters. */
const EDGE = PLAIN.map((isPlain, byte) =>
  isPlain && byte < 0x80 && byte !== APOSTROPHE && csvCell(String.fromCharCode(byte)).length === 1 ? 1 : 0,
)

/**
 * Writes the UTF-8 between `start` and `end` as the cell that `csvRow` makes of it, at most six bytes for each. Most cells
 * need no look at their characters.
 * @returns where it stopped in `target`, which must have room
 */
export function writeCell(target: Buffer, at: number, source: Buffer, start: number, end: number): number {
  const written = writePlain(target, at, source, start, end)
  return written >= 0 ? written : at + target.write(csvCell(source.toString('utf8', start, end)), at)
}

/** Copies a cell that needs neither quotes nor guards; returns -1 for another one. */
function writePlain(target: Buffer, at: number, source: Buffer, start: number, end: number): number {
  if (start === end) return at
  if (EDGE[source[start]!] === 0 || EDGE[source[end - 1]!] === 0) return -1
  for (let from = start; from < end; from++) {
    const byte = source[from]!
    if (PLAIN[byte] === 0) return -1
    target[at++] = byte
  }
  return at
}

/** Returns tags as one cell: joined by `|`, with `\|` and `\\` for these characters within a tag. */
export function joinTags(tags: readonly string[]): string {
  return tags.map(tag => tag.replaceAll(/[\\|]/g, '\\$&')).join('|')
}

/** Returns the tags of a cell that `joinTags` wrote; none for an empty cell. */
export function splitTags(cell: string): string[] {
  if (cell === '') return []
  const tags = ['']
  for (const [part] of cell.matchAll(/\\[\\|]|[^\\|]+|[\\|]/g)) {
    if (part === '|') tags.push('')
    else tags[tags.length - 1] += part.replace(/^\\(?=.)/, '')
  }
  return tags
}
