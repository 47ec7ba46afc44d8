import { Marked, type Tokens } from 'marked'
import { code } from './code.ts'
import { escaped, Html } from './html.ts'

/** Guides and comments contain no markup: an angle bracket is text. */
const marked = new Marked({
  tokenizer: { url: () => undefined, autolink: () => undefined }, // an address in a text is an example
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    code: ({ text, lang }) => code(text, lang ?? 'text').text,
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    table({ header, rows }) {
      const cell = (tag: string) => (each: Tokens.TableCell) =>
        `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`
      const row = (cells: Tokens.TableCell[], tag: string) => `<tr>${cells.map(cell(tag)).join('')}</tr>`
      const body = rows.map(cells => row(cells, 'td')).join('')
      return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>`
    },
  },
})

/** Renders a text of several paragraphs. */
export function markdown(text: string): Html {
  return new Html(marked.parse(text, { async: false }))
}

/** Renders a text of one line. */
export function inline(text: string): Html {
  return new Html(marked.parseInline(text, { async: false }))
}

function slugOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
