/** Words of contact files; a few are not ASCII. */
const names = 'Alpha Bravo Charlie Delta Écho Foxtrot Golf Hotel India Julia Kilo Lima Mike November Óscar Papa'.split(
  ' ',
)
const companies = 'Acme Globex Initech Umbrella Hooli Soylent Vandelay'.split(' ')
const cities = 'Delhi Mumbai Pune London Paris Berlin Madrid Tokyo Seoul Lagos Cairo Toronto Sydney São-Paulo'.split(
  ' ',
)
const domains = ['example.com', 'example.org', 'example.net']

/** Hashes a number; the result is the same on every machine. */
function scatter(seed: number): number {
  let bits = Math.imul(seed, 2654435761)
  bits = Math.imul(bits ^ (bits >>> 15), 2246822519)
  return (bits ^ (bits >>> 13)) >>> 0
}

/** Returns contact `index` of a file: email, name, company, city. A smaller file is a prefix of a bigger one. */
export function contactCells(index: number): [email: string, name: string, company: string, city: string] {
  const bits = scatter(index)
  const pick = (words: readonly string[], shift: number) => words[(bits >>> shift) % words.length]!
  const suffix = bits % 50 === 0 ? ', Inc' : ''
  return [
    `user${String(index).padStart(8, '0')}@${pick(domains, 7)}`,
    `${pick(names, 0)} ${pick(names, 5)}`,
    `${pick(companies, 9)} ${(bits >>> 12) % 500}${suffix}`,
    pick(cities, 11),
  ]
}

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`

/**
 * Shapes of a contact file: `plain` quotes a cell only where it must, `quoted` quotes each, `nested` holds company and
 * city as JSON in one cell, so that its quotes are doubled.
 */
export const shapes = {
  plain: {
    headers: ['email', 'name', 'company', 'city'],
    line: (cells: string[]) => cells.map(cell => (cell.includes(',') ? quoted(cell) : cell)).join(','),
  },
  quoted: {
    headers: ['email', 'name', 'company', 'city'],
    line: (cells: string[]) => cells.map(quoted).join(','),
  },
  nested: {
    headers: ['email', 'name', 'attributes'],
    line: ([email, name, company, city]: string[]) => `${email},${name},${quoted(JSON.stringify({ company, city }))}`,
  },
} as const

/** Returns a contact file of at least `bytes` bytes, in chunks of about 64 KiB. */
export function contactsCsv(shape: keyof typeof shapes, bytes: number): Buffer[] {
  const { headers, line } = shapes[shape]
  const chunks: Buffer[] = []
  let text = `${headers.join(',')}\n`
  for (let index = 1, size = 0; size < bytes; index++) {
    text += `${line(contactCells(index))}\n`
    if (text.length < 64 * 1024) continue
    const chunk = Buffer.from(text)
    chunks.push(chunk)
    size += chunk.length
    text = ''
  }
  return chunks
}
