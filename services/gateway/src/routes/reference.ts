import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { OpenApi } from '@rollcall/contract'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import helmet from 'helmet'
import type { Limiter } from '../rate-limit.ts'
import { renderReference } from '../reference/pages.ts'

const HASH_LENGTH = 12
const YEAR_SECONDS = 365 * 24 * 60 * 60

type File = { type: string; gzip: Buffer; cacheControl: string }

/** Returns the API description and its reference pages, all public. The pages may load only their own files. */
export function reference(describe: () => OpenApi, count: Limiter): Router {
  const router = Router()
  let files: Map<string, File> | undefined
  router.use(['/docs', '/openapi.json'], counted(count), documentHeaders)
  const serve: RequestHandler = (request, response, next) => {
    files ??= filesOf(describe()) // takes a moment, so not at boot
    const file = files.get(request.path.replace(/\/$/, ''))
    if (file) send(file, request, response)
    else next()
  }
  for (const path of ['/openapi.json', '/docs', '/docs/*path']) router.get(path, serve)
  return router
}

/** Returns every file by its path. Style and script have a hash in their names and never change. */
function filesOf(description: OpenApi): Map<string, File> {
  const style = asset('css')
  const script = asset('js')
  const pages = renderReference(description, { style: style.path, script: script.path })
  const unchanging = `public, max-age=${YEAR_SECONDS}, immutable`
  const file = (type: string, text: string, cacheControl = 'no-cache') => ({ type, gzip: gzipSync(text), cacheControl })
  return new Map([
    ['/openapi.json', file('json', JSON.stringify(description))],
    [style.path, file('css', style.text, unchanging)],
    [script.path, file('js', script.text, unchanging)],
    ...[...pages].map(([path, text]): [string, File] => [path, file('html', text)]),
  ])
}

function asset(type: 'css' | 'js'): { path: string; text: string } {
  const text = readFileSync(join(import.meta.dirname, '..', 'reference', `reference.${type}`), 'utf8')
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
  return { path: `/docs/reference-${hash}.${type}`, text }
}

function send({ type, gzip, cacheControl }: File, request: Request, response: Response): void {
  response.set({ 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' }).type(type)
  if (request.acceptsEncodings('gzip')) response.set('Content-Encoding', 'gzip').send(gzip)
  else response.send(gunzipSync(gzip))
}

/** Counts requests of a page against a limit, and sets the headers that show its state. */
export function counted(count: Limiter): RequestHandler {
  return async (_request, response, next) => {
    for (const [name, value] of await count(response.locals.exchange)) response.setHeader(name, value)
    next()
  }
}

const documentHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ['data:'],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
})
