import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Response, Router } from 'express'
import helmet from 'helmet'
import sirv from 'sirv'

const YEAR_SECONDS = 365 * 24 * 60 * 60
/** What the build writes where an answer's own nonce belongs. */
const NONCE_PLACEHOLDER = /__CSP_NONCE__/g
/** A path of the console may contain dots: only the endings of files are never pages. */
const FILE = /^\/assets\/|\.(js|mjs|css|map|html|json|svg|png|ico|woff2?|txt|webmanifest)$/

/** A page within the console that shows the HTML of a mail, which the console sends it. */
const MAIL_FRAME = `<!doctype html>
<html lang="en">
<title>Mail</title>
<script nonce="__CSP_NONCE__">
addEventListener('message', ({ source, data }) => {
  if (source === parent && typeof data?.mail === 'string') document.documentElement.innerHTML = data.mail
})
</script>
</html>`

/**
 * Serves the built console of a folder at /console/, for anyone. Assets have a hash in their names and never change; every
 * other path is a page of the console, answered with its index and a new nonce for the styles that it makes.
 */
export function consolePages(directory: string): Router {
  const index = readFileSync(join(directory, 'index.html'), 'utf8')
  const assets = sirv(directory, { brotli: true, gzip: true, immutable: true, maxAge: YEAR_SECONDS, extensions: [] })
  const router = Router({ strict: true })
  router.get('/', (_request, response) => response.redirect('/console/'))
  router.get('/console', (_request, response) => response.redirect('/console/'))
  router.use('/console/', (_request, response, next) => {
    response.locals.nonce = randomBytes(16).toString('base64')
    next()
  })
  router.get('/console/mail-frame.html', mailFrameHeaders, (_request, response) => {
    const page = MAIL_FRAME.replaceAll(NONCE_PLACEHOLDER, response.locals.nonce)
    response.set('Cache-Control', 'no-cache').type('html').send(page)
  })
  router.use('/console/', pageHeaders, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead) return notFound(response)
    if (request.path.startsWith('/assets/')) return assets(request, response, () => notFound(response))
    if (FILE.test(request.path)) return notFound(response)
    const page = index.replaceAll(NONCE_PLACEHOLDER, response.locals.nonce)
    response.set('Cache-Control', 'no-cache').type('html').send(page)
  })
  return router
}

function notFound(response: Response): void {
  response.status(404).set('Cache-Control', 'no-store').type('text').send('Not found')
}

/** Where the console's own parts of a page may come from. */
const ownNonce = (_request: unknown, response: unknown) => `'nonce-${(response as Response).locals.nonce}'`

const helmetHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", ownNonce],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      frameSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
})

/** A mail has styles and images of its own. Nothing else of it works: no script, no form, no way out of the frame. */
const mailFrameHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: [ownNonce],
      styleSrc: ["'unsafe-inline'"],
      imgSrc: ['data:', 'https:'],
      formAction: ["'none'"],
      baseUri: ["'none'"],
      frameAncestors: ["'self'"],
      sandbox: ['allow-scripts'],
    },
  },
})

const pageHeaders: ReturnType<typeof helmet> = (request, response, next) => {
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
  helmetHeaders(request, response, next)
}
