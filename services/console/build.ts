import { readFileSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

/** `node services/console/build.ts [FOLDER]`: builds the console into a folder, its assets compressed as well. */

const COMPRESSIBLE = /\.(js|css|svg)$/
const outDir = process.argv[2] ?? join(import.meta.dirname, 'dist')

await build({ configFile: join(import.meta.dirname, 'vite.config.ts'), build: { outDir }, logLevel: 'warn' })
for (const name of await readdir(join(outDir, 'assets'))) {
  if (!COMPRESSIBLE.test(name)) continue
  const file = join(outDir, 'assets', name)
  const bytes = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(bytes))
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }))
}
