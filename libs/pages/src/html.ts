/** Escaped HTML. Only `html` makes it. */
export class Html {
  readonly #text: string

  /** @param text HTML that is already escaped */
  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** What a template may hold: text and numbers are escaped, false and null add nothing. */
type Value = string | number | Html | false | null | readonly Html[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Tag of templates of HTML: escapes every value that is not HTML itself. Attributes need quotes around them. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((text, index) => text + (index < values.length ? htmlOf(values[index]!) : ''))
  return new Html(parts.join(''))
}

function htmlOf(value: Value): string {
  if (value === false || value === null) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(String).join('')
  return String(value).replace(/[&<>"']/g, character => ENTITIES[character]!)
}
