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

/** A process is killed sooner or later, and one that is killed stores no compiled code by itself. */
const CACHED_AFTER_MS = 2000

/** Stands in for `main.ts` of each service, whose `await` a CommonJS module cannot have. */
const programs: Plugin = {
  name: 'programs',
  resolveId: source => (isService(source) ? source : undefined),
  load: id => (isService(id) ? programOf(id) : undefined),
}

function isService(name: string): boolean {
  return SERVICES.some(service => service === name)
}

function programOf(service: string): string {
  const source = join(import.meta.dirname, '../services', service, 'src/service.ts')
  return `import { flushCompileCache } from 'node:module'
import { service } from ${JSON.stringify(source)}
service.run()
setTimeout(flushCompileCache, ${CACHED_AFTER_MS}).unref()`
}

/**
 * Makes a file of all modules of each service: a process starts in half the time, and tests start hundreds of them. They
 * are CommonJS modules, because Node prepares all exports of what an ES module imports from it: with `node:http`, its `fetch`.
 */
export async function bundleServices(folder: string): Promise<void> {
  await using bundle = await rolldown({
    input: [...SERVICES],
    platform: 'node',
    plugins: [programs, sourcePlaces],
    logLevel: 'silent',
  })
  await bundle.write({
    dir: folder,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    keepNames: true,
  })
}
