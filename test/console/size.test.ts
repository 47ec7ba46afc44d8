import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { builtConsole } from '@rollcall/local'
import { toolsCache } from '../chart/tools.ts'

const KB = 1000
/** Libraries that only a chunk of their own may hold, by what their code contains. */
const HEAVY = { recharts: /recharts-(surface|wrapper)/, 'react-querybuilder': /rqb-|queryBuilder-/ }

/** Sizes are those of gzip, in bytes. */
describe('the size of the console', () => {
  let assets: string
  let names: string[]
  let firstLoad: Set<string>
  before(async () => {
    const folder = await builtConsole(toolsCache())
    assets = join(folder, 'assets')
    names = readdirSync(assets)
    const index = readFileSync(join(folder, 'index.html'), 'utf8')
    firstLoad = new Set()
    for (const [, script = ''] of index.matchAll(/<script [^>]*src="\/console\/assets\/([^"]+)"/g))
      closureOf(script, firstLoad)
  })

  const sizeOf = (name: string) => statSync(join(assets, `${name}.gz`)).size
  const sumOf = (some: Iterable<string>) => [...some].reduce((sum, name) => sum + sizeOf(name), 0)
  const ending = (suffix: string) => names.filter(name => name.endsWith(suffix))
  const chunkOf = (screen: string) => ending('.js').find(name => new RegExp(`^${screen}-[\\w-]{8}\\.js$`).test(name))!

  /** Returns a chunk with those that it cannot run without. */
  function closureOf(name: string, seen = new Set<string>()): Set<string> {
    if (seen.has(name)) return seen
    seen.add(name)
    const text = readFileSync(join(assets, name), 'utf8')
    for (const [, imported = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([\w.-]+\.js)["']/g))
      closureOf(imported, seen)
    return seen
  }

  for (const [screen, limit] of [
    ['contacts', 300],
    ['overview', 425],
  ] as const) {
    it(`is at most ${limit} kB of script for the first look at ${screen}`, () => {
      const loaded = new Set([...firstLoad, ...closureOf(chunkOf(screen))])
      assert.ok(loaded.size > 5)
      assert.ok(sumOf(loaded) <= limit * KB, `${screen}: ${sumOf(loaded)} bytes`)
    })
  }

  it('is at most 300 kB of script before a screen', () =>
    assert.ok(sumOf(firstLoad) <= 300 * KB, `${sumOf(firstLoad)}`))

  it('is at most 50 kB of styles in all', () => {
    assert.ok(sumOf(ending('.css')) <= 50 * KB, `${sumOf(ending('.css'))} bytes`)
  })

  it('is at most 125 kB for each chunk', () => {
    const large = ending('.js').filter(name => sizeOf(name) > 125 * KB)
    assert.deepEqual(large, [])
  })

  it('keeps what only some screens need out of the first load, in one chunk', () => {
    for (const [library, pattern] of Object.entries(HEAVY)) {
      const holders = ending('.js').filter(name => pattern.test(readFileSync(join(assets, name), 'utf8')))
      assert.ok(holders.length <= 1, `${library} is in ${holders}`)
      assert.ok(!holders.some(name => firstLoad.has(name)), `${library} is in the first load`)
    }
  })
})
