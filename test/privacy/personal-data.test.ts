import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { SERVICES } from '@rollcall/local'
import type { PersonalData } from '@rollcall/service'
import type { Schema } from 'mongoose'

/** `collections` has the name in MongoDB of each declared collection. */
type Loaded = {
  name: string
  declared: Readonly<Record<string, PersonalData<never>>>
  collections: ReadonlyMap<string, string>
}

/** The services with a database: what their collections hold of people, and the collections that they register. */
const services: Loaded[] = await Promise.all(
  SERVICES.filter(name => name !== 'gateway').map(async name => {
    const { service } = await import(`../../services/${name}/src/service.ts`)
    const { collections: defined } = await import(`../../services/${name}/src/collections.ts`)
    const collections = new Map<string, string>()
    defined({ model: (key: string, schema: Schema) => collections.set(key, schema.get('collection')!) })
    return { name, declared: service.personalData, collections }
  }),
)

const README = new URL('../../deploy/README.md', import.meta.url)

/** Returns the rows of the table in the guide for operators. */
function rowsOf({ name, declared, collections }: Loaded): string[] {
  return Object.entries(declared).flatMap(([key, data]) => {
    if (data === 'none') return []
    const erasure = typeof data.erase === 'function' ? 'erased' : data.erase.kept
    return [`| ${name} | \`${collections.get(key)}\` | ${data.holds} | ${data.kept} | ${erasure} |`]
  })
}

describe('personal data', () => {
  it('is declared for every collection of every service', () => {
    for (const { name, declared, collections } of services)
      assert.deepEqual(Object.keys(declared).sort(), [...collections.keys()].sort(), `collections of ${name}`)
  })

  it('is kept for a limited time, and the guide for operators says how long', () => {
    const rows = services.flatMap(rowsOf)
    const [, section = ''] = readFileSync(README, 'utf8').split('\n## Personal data\n')
    const shown = section
      .split('\n## ')[0]!
      .split('\n')
      .filter(line => /^\| \w+ \| `/.test(line))
    assert.deepEqual(shown, rows, `the table of personal data in deploy/README.md:\n${rows.join('\n')}`)
  })
})
