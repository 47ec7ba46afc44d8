import { compile as compileText } from 'html-to-text'
import { type ContentField, MAX_OUTPUT_BYTES, TemplateError, TimeLimitError, withinTime } from './limits.ts'
import { describeProblem, type Escaping, parseLiquid, renderLiquid } from './liquid.ts'

/** The templates of a mail, in Liquid. One of `html` and `text` is there. */
export type Content = { subject: string; preheader?: string | null; html?: string | null; text?: string | null }

/** A rendered mail. The text is made from the HTML where the content has none. */
export type Mail = { subject: string; html: string | null; text: string }

/** A parsed mail that can be rendered many times. */
export type Template = {
  /** Throws TemplateError for an output that takes too long or gets too large. */
  render(variables: object): Mail
  /** Renders for several recipients, in their order. What fails for one is its error. */
  renderAll(variables: readonly object[]): (Mail | TemplateError)[]
}

const escapings: Record<ContentField, Escaping> = { subject: 'text', preheader: 'html', html: 'html', text: 'text' }
const FIELDS: readonly ContentField[] = ['subject', 'preheader', 'html', 'text']

/** Deeper elements are left out of a text that is made from HTML. */
const MAX_TEXT_DEPTH = 200

const toText = compileText({
  wordwrap: false,
  limits: { maxDepth: MAX_TEXT_DEPTH },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(selector => ({ selector, options: { uppercase: false } })),
  ],
})

/** Parses the templates of a mail. Throws TemplateError, which names the first field that does not parse. */
export function compile(content: Content): Template {
  const parsed = within(({ at }) =>
    FIELDS.flatMap(field => {
      const source = content[field]
      if (source === null || source === undefined) return []
      at(field)
      return [[field, parseLiquid(source, escapings[field])] as const]
    }),
  )
  const output = (variables: object, { at }: Progress): Mail => {
    const outputs: Partial<Record<ContentField, string>> = {}
    for (const [field, template] of parsed) {
      at(field)
      outputs[field] = limited(renderLiquid(template, escapings[field], variables))
    }
    at('html')
    const text = outputs.text ?? limited(toText(outputs.html ?? ''))
    const html = outputs.html === undefined ? null : limited(withPreheader(outputs.html, outputs.preheader))
    return { subject: oneLine(outputs.subject ?? ''), html, text }
  }
  const render = (variables: object) => within(progress => output(variables, progress))
  const renderOrError = (variables: object) => {
    try {
      return render(variables)
    } catch (error) {
      if (error instanceof TemplateError) return error
      throw error
    }
  }
  let isShared = true
  return {
    render,
    renderAll(all) {
      // A limit of time costs a thread: mails share one until that was not enough, or one of them failed.
      try {
        if (isShared) return within(progress => all.map(variables => output(variables, progress)))
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error
        isShared = false
      }
      return all.map(renderOrError)
    },
  }
}

/** Renders a mail once. Throws TemplateError. */
export function render(content: Content, variables: object): Mail {
  return compile(content).render(variables)
}

/** Returns whether each part of a rendered mail shows this unsubscribe link. */
export function hasUnsubscribeLink({ html, text }: Mail, url: string): boolean {
  return (html === null || html.includes(url)) && text.includes(url)
}

type Progress = { at(field: ContentField): void }

/** Runs within the limit of time. An error names the field that `at` announced last. */
function within<Result>(run: (progress: Progress) => Result): Result {
  let current: ContentField = 'subject'
  try {
    return withinTime(() =>
      run({
        at(field) {
          current = field
        },
      }),
    )
  } catch (error) {
    throw new TemplateError(current, error instanceof TimeLimitError ? error.message : describeProblem(error))
  }
}

function limited(output: string): string {
  if (Buffer.byteLength(output) > MAX_OUTPUT_BYTES) throw new Error('output is larger than 256 KiB')
  return output
}

/** A line break in a subject would begin another header. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Puts the preheader where clients look for the preview of a mail: first in the body, and invisible in it. */
function withPreheader(html: string, preheader: string | undefined): string {
  if (!preheader) return html
  const body = /<body\b[^>]*>/i.exec(html)
  const at = body ? body.index + body[0].length : 0
  const hidden = `<div style="display:none;max-height:0;overflow:hidden">${preheader}</div>`
  return html.slice(0, at) + hidden + html.slice(at)
}
