import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { Html, html } from './html.ts'

/** A language of public pages. */
export type Language = PageRequest['language']

/** The content of a page. */
export type PageContent = {
  language: Language
  /** Title of the document and heading of the page. */
  title: string
  /** What follows the heading. */
  body: Html
  /** HTTP status. Default: 200. */
  status?: number
  /** Origins that its forms lead to by redirects, besides its own. */
  formTargets?: readonly string[]
  /** Default: no-referrer. */
  referrerPolicy?: string
}

const HTML_TYPE = 'text/html; charset=utf-8'
const style = readFileSync(join(import.meta.dirname, 'page.css'), 'utf8')
const styleHash = createHash('sha256').update(style).digest('base64')
/** Pages have one known style, no script and nothing from elsewhere, and submit to their own origin. */
function policyOf(formTargets: readonly string[]): string {
  const targets = ["'self'", ...formTargets].join(' ')
  return `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`
}

/** Renders a public page: one column that needs no JavaScript and follows the colour scheme of the reader. */
export function renderPage(content: PageContent): PageResponse {
  const { language, title, body, status = 200, formTargets = [], referrerPolicy } = content
  const page = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return {
    status,
    contentType: HTML_TYPE,
    data: Buffer.from(String(page)),
    contentSecurityPolicy: policyOf(formTargets),
    ...(referrerPolicy !== undefined && { referrerPolicy }),
  }
}

/** Returns a redirect to a URL. Default: 302. */
export function redirectTo(location: string, status: 302 | 303 = 302): PageResponse {
  return { status, contentType: 'text/plain; charset=utf-8', data: Buffer.alloc(0), location }
}

const notFound = {
  en: { title: 'Page not found', text: 'The link is not complete, or it is no longer valid.' },
  de: { title: 'Seite nicht gefunden', text: 'Der Link ist unvollständig oder nicht mehr gültig.' },
}

/** Returns the page for an unknown path or an invalid token: the same for both, so that it reveals nothing. */
export function notFoundPage(language: Language): PageResponse {
  const { title, text } = notFound[language]
  return renderPage({ language, title, body: html`<p>${text}</p>`, status: 404 })
}
