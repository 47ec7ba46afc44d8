/** Markup that needs no escaping. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What a template takes: texts are escaped, nothing is shown for undefined and false. */
export type Part = Html | string | number | undefined | false | readonly Part[]

/** Template of markup. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, at) => text + written(parts[at - 1]) + string))
}

function written(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(written).join('')
  return escaped(String(part))
}

/** Escapes a text for markup and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
