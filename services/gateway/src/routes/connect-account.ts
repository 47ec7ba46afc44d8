import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'
import helmet from 'helmet'
import type { Limiter } from '../rate-limit.ts'
import { counted } from './reference.ts'

const PATH = '/connect-account'
const file = (ending: string) =>
  readFileSync(join(import.meta.dirname, '..', 'pages', `connect-account.${ending}`), 'utf8')

/**
 * Returns the page that finishes connecting a mail account, for installations without a console. The account's provider
 * redirects people to it. Its script acts in the session of the browser. It may load only its own files.
 */
export function connectAccount(count: Limiter): Router {
  const router = Router()
  const files = [
    [PATH, 'html'],
    [`${PATH}/page.css`, 'css'],
    [`${PATH}/page.js`, 'js'],
  ] as const
  router.use(PATH, counted(count), pageHeaders)
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
