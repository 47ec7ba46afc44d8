// Generates protos/gen and libs/sdk/src/gen: `node libs/contract/src/generate.ts`. With --check it writes nothing, and
// fails if the committed files differ.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { protoFolder } from '@rollcall/protos'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'
import { generateSdk } from './sdk.ts'
import { generateTypes } from './typescript.ts'

const REPOSITORY = join(protoFolder, '..')
const root = loadRoot()
const { routes } = compileRoutes(root)
const targets = [
  { folder: join(protoFolder, 'gen'), files: generateTypes(root) },
  { folder: join(REPOSITORY, 'libs/sdk/src/gen'), files: generateSdk(root, routes) },
]
const isCheck = process.argv.includes('--check')
const stale = targets.flatMap(({ folder, files }) => (isCheck ? staleFiles(folder, files) : write(folder, files)))
if (stale.length > 0) {
  console.error(`generated files are out of date (${stale.join(', ')}): run npm run generate`)
  process.exit(1)
}

function staleFiles(folder: string, files: Map<string, string>): string[] {
  const names = new Set([...files.keys(), ...readdirSync(folder)])
  const changed = [...names].filter(name => files.get(name) !== readIfExists(join(folder, name)))
  return changed.map(name => relative(REPOSITORY, join(folder, name)))
}

function write(folder: string, files: Map<string, string>): [] {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name))
  for (const [name, content] of files) writeFileSync(join(folder, name), content)
  return []
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
