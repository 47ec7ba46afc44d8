/** A cell that a spreadsheet would run as a formula, whatever number of guards stands before it. */
const formula = /^'*[=+\-@\t\r]/
const plainNumber = /^-(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i
const isFormula = (cell: string): boolean => formula.test(cell) && !plainNumber.test(cell)
const APOSTROPHE = 0x27

/** The cell in a form that no spreadsheet runs: a formula gets one `'` more in front. `unguard` takes it away. */
export function guard(cell: string): string {
  return isFormula(cell) ? `'${cell}` : cell
}

/** What `guard` was given, so exactly one `'` less on a guarded cell; any other text as it is. */
export function unguard(cell: string): string {
  if (cell.charCodeAt(0) !== APOSTROPHE) return cell
  const rest = cell.slice(1)
  return isFormula(rest) ? rest : cell
}

const needsQuotes = /[",;\t\r\n]|^\s|\s$/
/** Neither needs quotes nor can begin a formula: most cells. */
const isPlain = /^(?![\s'=+\-@])[^",;\t\r\n]*(?<!\s)$/

/** One CSV line of these cells, guarded, quoted where needed, CRLF included. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: string): string {
  if (isPlain.test(cell)) return cell
  const guarded = guard(cell)
  return needsQuotes.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
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
