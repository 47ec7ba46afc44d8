import type { Match, Route } from '@rollcall/contract'
import { AppError, toAppError } from '@rollcall/contract'
import { html, type Language, notFoundPage, renderPage } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { anonymousCaller, type Client } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import { answerPage } from './answer.ts'
import { clientOf } from './authenticate.ts'
import type { Backends } from './backends.ts'
import { readBytes } from './body.ts'
import { allowAtForm } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { answerProblem, headersOf, recordFailure } from './problem.ts'
import type { RateLimits } from './rate-limit.ts'
import type { ShortLinks } from './short-links.ts'

/** Handles a request outside /api that no file answers. */
export type PublicPages = (exchange: Exchange) => Promise<void>

/** What public pages need. */
type Options = {
  pages: readonly Route[]
  backends: Backends
  forms: Client<'rollcall.content.v1.Forms'>
  deadlineMs: number
  logger: Logger
  limits: RateLimits
  shortLinks: ShortLinks
}

/**
 * Returns the handler of public pages: rpcs that answer HTML, an image or a redirect, for anyone. Requests count against
 * the limit of the page only, so that many readers behind one address do not use up that of the API. Refusals are pages
 * as well, outside /api; an unknown path and an invalid token have the same one.
 */
export function publicPages(options: Options): PublicPages {
  const { pages, backends, forms, deadlineMs, logger, limits, shortLinks } = options
  const calls = new Map(pages.map(route => [route, backends.invoker(route)]))
  const answerTo = async (exchange: Exchange): Promise<PageResponse> => {
    await limits.countPage(exchange)
    const { match } = exchange
    if (!match) throw new AppError('page.not_found')
    const redirect = isPrefetch(exchange.request.headers) ? undefined : shortLinks.follow(exchange, match)
    if (redirect) return redirect
    await allowAtForm(exchange, match, forms)
    const request = await pageRequestOf(exchange, match)
    const caller = { ...anonymousCaller(), ...clientOf(exchange) }
    const { id: requestId, signal } = exchange
    const context = { caller, requestId, signal, deadline: Date.now() + deadlineMs }
    const page = (await calls.get(match.route)!(request, context)) as PageResponse
    shortLinks.keep(exchange, page)
    return page
  }
  return async exchange => {
    try {
      answerPage(exchange, await answerTo(exchange))
    } catch (thrown) {
      if (exchange.path.startsWith('/api/')) return answerProblem(exchange, thrown, logger)
      const error = toAppError(thrown)
      if (!recordFailure(exchange, error, logger)) return
      exchange.headers = headersOf(error, error)
      answerPage(exchange, problemPage(error, languageOf(exchange)))
    }
  }
}

async function pageRequestOf(exchange: Exchange, { params }: Match): Promise<PageRequest> {
  const { request, query } = exchange
  const { 'content-type': contentType = '', origin = '', referer = '' } = request.headers
  return {
    key: '',
    ...params,
    query,
    language: languageOf(exchange),
    isHead: request.method === 'HEAD',
    isPrefetch: isPrefetch(request.headers),
    contentType,
    origin,
    referer,
    body: request.method === 'POST' ? await readBytes(exchange) : Buffer.alloc(0),
  }
}

function languageOf({ request }: Exchange): Language {
  return request.acceptsLanguages('en', 'de') === 'de' ? 'de' : 'en'
}

/** Whether a browser announces that nobody has opened the page (Sec-Purpose, and the older Purpose and X-Moz). */
function isPrefetch(headers: Exchange['request']['headers']): boolean {
  return [headers['sec-purpose'], headers.purpose, headers['x-moz']].some(value =>
    /prefetch/i.test(String(value ?? '')),
  )
}

const problems = {
  429: {
    en: { title: 'Too many requests', text: 'Please try again in a few minutes.' },
    de: { title: 'Zu viele Anfragen', text: 'Bitte versuchen Sie es in einigen Minuten noch einmal.' },
  },
  503: {
    en: { title: 'Not available', text: 'Please try again in a few minutes.' },
    de: { title: 'Nicht erreichbar', text: 'Bitte versuchen Sie es in einigen Minuten noch einmal.' },
  },
  400: {
    en: { title: 'Invalid request', text: 'This request could not be read.' },
    de: { title: 'Ungültige Anfrage', text: 'Diese Anfrage konnte nicht gelesen werden.' },
  },
} as const

function problemPage({ status }: AppError, language: Language): PageResponse {
  if (status === 404) return notFoundPage(language)
  const { title, text } = problems[status as keyof typeof problems]?.[language] ?? problems[400][language]
  return renderPage({ language, title, body: html`<p>${text}</p>`, status })
}
