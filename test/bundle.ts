import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SERVICES } from '@rollcall/local'
import { type Plugin, rolldown } from 'rolldown'

/** Packages with binaries, which no bundle can hold. */
const BINARY = /^@node-rs\//
const PLACES = /\bimport\.meta\.(dirname|url)\b|\b__(dirname|filename)\b/g

/** Keeps the places of sources, by which modules find their files and threads, and packages with binaries. */
const sourcePlaces: Plugin = {
  name: 'source places',
  resolveId(source, importer) {
    if (!importer || !BINARY.test(source)) return undefined
    return { id: createRequire(importer).resolve(source), external: 'absolute' }
  },
  transform(code, id) {
    if (!/\.(ts|[cm]?js)$/.test(id)) return undefined
    return code.replace(PLACES, place => {
      if (place.endsWith('dirname')) return JSON.stringify(dirname(id))
      return JSON.stringify(place === '__filename' ? id : pathToFileURL(id).href)
    })
  },
}

/** Makes a file of all modules of each service: a process starts in half the time, and tests start hundreds of them. */
export async function bundleServices(folder: string): Promise<void> {
  const sources = SERVICES.map(service => [service, join(import.meta.dirname, '../services', service, 'src/main.ts')])
  await using bundle = await rolldown({
    input: Object.fromEntries(sources),
    platform: 'node',
    plugins: [sourcePlaces],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, format: 'esm', keepNames: true })
}
