import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'
import helmet from 'helmet'
import type { Limiter } from '../rate-limit.ts'
import { counted } from './reference.ts'

const path = '/connect-account'
const file = (ending: string) =>
  readFileSync(join(import.meta.dirname, '..', 'pages', `connect-account.${ending}`), 'utf8')

/**
 * The page that finishes connecting a mail account where no console does: people come back to it from the account's
 * provider. What it does is up to its script, in the session of the browser; it may load nothing but its own files.
 */
export function connectAccount(count: Limiter): Router {
  const router = Router()
  const files = [
    [path, 'html'],
    [`${path}/page.css`, 'css'],
    [`${path}/page.js`, 'js'],
  ] as const
  router.use(path, counted(count), pageHeaders)
  for (const [at, type] of files) {
    const text = file(type)
    router.get(at, (_request, response) => void response.set('Cache-Control', 'no-store').type(type).send(text))
  }
  return router
}

const pageHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
})
