import { escaped, Html, html } from './html.ts'

const TOKENS =
  /(?<key>"[^"\n]*"(?=\s*:))|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<comment>(?<=^|\s)(?:\/\/|#).*$)|(?<word>\b(?:await|const|import|from|for|of|if|catch|try|instanceof|curl|true|false|null)\b)|(?<number>\b\d+(?:\.\d+)?\b)/gm

/** Languages by the names that Markdown and `x-codeSamples` give them. */
const LANGUAGES: Readonly<Record<string, { label: string; choice?: string }>> = {
  sh: { label: 'curl', choice: 'curl' },
  Shell: { label: 'curl', choice: 'curl' },
  ts: { label: 'TypeScript', choice: 'typescript' },
  TypeScript: { label: 'TypeScript', choice: 'typescript' },
  json: { label: 'JSON' },
  text: { label: 'Text' },
}

/** Renders a block of code. The script adds a button that copies it, and hides languages that were not chosen. */
export function code(source: string, language: string, title?: string): Html {
  const { label, choice } = LANGUAGES[language] ?? LANGUAGES.text!
  const name = title ?? label
  return html`<figure class="code"${choice && new Html(` data-language="${choice}"`)}><figcaption>${name}</figcaption><pre tabindex="0" role="group" aria-label="${name}"><code>${highlighted(source)}</code></pre></figure>`
}

function highlighted(source: string): Html {
  let text = ''
  let end = 0
  for (const match of source.matchAll(TOKENS)) {
    const [kind] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!
    text += `${escaped(source.slice(end, match.index))}<span class="${kind}">${escaped(match[0])}</span>`
    end = match.index + match[0].length
  }
  return new Html(text + escaped(source.slice(end)))
}
