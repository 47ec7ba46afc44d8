import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { OpenApi } from '@rollcall/contract'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Limiter } from '../rate-limit.ts'

const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const SETUP = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null })\n`
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rollcall API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/setup.js"></script>
</html>
`

/** Returns the API description and its reference page, both public. The page may load only its own files. */
export function reference(description: OpenApi, count: Limiter): Router {
  const router = Router()
  const text = JSON.stringify(description)
  router.use(['/docs', '/openapi.json'], counted(count), documentHeaders)
  router.get('/openapi.json', (_request, response) => void response.type('json').send(text))
  router.get('/docs', (_request, response) => void response.type('html').send(PAGE))
  router.get('/docs/setup.js', (_request, response) => void response.type('js').send(SETUP))
  for (const asset of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    router.get(`/docs/${asset}`, (_request, response) => response.sendFile(asset, { root: assets, maxAge: '1h' }))
  }
  return router
}

/** Counts requests of a page against a limit, and sets the headers that show its state. */
export function counted(count: Limiter): RequestHandler {
  return async (_request, response, next) => {
    for (const [name, value] of await count(response.locals.exchange)) response.setHeader(name, value)
    next()
  }
}

/** Swagger UI needs inline styles, and icons as data URLs. */
const documentHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
})
