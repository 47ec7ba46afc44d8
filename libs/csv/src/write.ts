/** A beginning that a spreadsheet would run as a formula, whatever number of guards stands before it. */
const formula = /^'*[=+\-@\t\r＝＋－＠]/
/**
 * The same within a cell, behind what another spreadsheet takes for a separator or the end of a row: for that one the
 * quotes around the cell stand in mid-field and protect nothing, and those that follow here begin a quoted field.
 */
const innerFormula = /(?<=[;\t\r\n])(?='*"*[=+\-@＝＋－＠])/g
const innerGuard = /(?<=[;\t\r\n])'(?='*"*[=+\-@＝＋－＠])/g
const plainNumber = /^-(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i
const APOSTROPHE = 0x27

const isFormula = (cell: string): boolean => formula.test(cell) && !plainNumber.test(cell)
const guardStart = (cell: string): string => (isFormula(cell) ? `'${cell}` : cell)

/**
 * The cell in a form that no spreadsheet runs, whatever its list separator: each formula in it gets one `'` more in front.
 * `unguard` takes them away.
 */
export function guard(cell: string): string {
  return guardStart(cell.replace(innerFormula, "'"))
}

/** What `guard` was given, so exactly one `'` less on each guarded formula; any other text as it is. */
export function unguard(cell: string): string {
  const text = cell.includes("'") ? cell.replace(innerGuard, '') : cell
  if (text.charCodeAt(0) !== APOSTROPHE) return text
  const rest = text.slice(1)
  return isFormula(rest) ? rest : text
}

/** A cell that stands without quotes; so it holds no separator, and no formula but at its beginning. */
const bare = /^(?!\s)[^",;\t\r\n]*(?<!\s)$/

/** One CSV line of these cells, guarded, quoted where needed, CRLF included. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: string): string {
  return bare.test(cell) ? guardStart(cell) : `"${guard(cell).replaceAll('"', '""')}"`
}

/** Tags in one cell: joined by `|`, with `\|` and `\\` for these characters within a tag. */
export function joinTags(tags: readonly string[]): string {
  return tags.map(tag => tag.replaceAll(/[\\|]/g, '\\$&')).join('|')
}

/** The tags of a cell that `joinTags` made; no tags from an empty one. */
export function splitTags(cell: string): string[] {
  if (cell === '') return []
  const tags = ['']
  for (const [part] of cell.matchAll(/\\[\\|]|[^\\|]+|[\\|]/g)) {
    if (part === '|') tags.push('')
    else tags[tags.length - 1] += part.replace(/^\\(?=.)/, '')
  }
  return tags
}
