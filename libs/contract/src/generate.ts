// Generates protos/gen: `node libs/contract/src/generate.ts`. With --check it writes nothing, and fails if the committed
// files differ.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { protoFolder } from '@rollcall/protos'
import { loadRoot } from './root.ts'
import { compileRoutes } from './routes.ts'
import { generateTypes } from './typescript.ts'

const root = loadRoot()
compileRoutes(root)
const files = generateTypes(root)
const folder = join(protoFolder, 'gen')
mkdirSync(folder, { recursive: true })

if (process.argv.includes('--check')) {
  const names = new Set([...files.keys(), ...readdirSync(folder)])
  const stale = [...names].filter(name => files.get(name) !== readIfExists(join(folder, name)))
  if (stale.length > 0) {
    console.error(`protos/gen is out of date (${stale.join(', ')}): run npm run generate`)
    process.exit(1)
  }
} else {
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name))
  for (const [name, content] of files) writeFileSync(join(folder, name), content)
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
