import { type DefaultTreeAdapterTypes, parse } from 'parse5'

/** What a message counts. */
export type Track = { opens: boolean; clicks: boolean }

/** How links and the pixel of one message are made. */
export type TrackOptions = {
  track: Track
  /** Returns the URL that counts and then leads to another one. */
  linkOf: (url: string) => string
  pixelUrl: string
  /** Links that begin like one of these are never rewritten. */
  ownPrefixes: readonly string[]
}

/** Longer URLs are not counted: some mail programs cut them. */
const MAX_URL_LENGTH = 1500
const PRINTABLE = /^[\x21-\x7e]+$/

type Edit = { to: number; text: string }

/** Returns the HTML of a mail with counting links and a pixel; everything else stays as it is, byte by byte. */
export function trackHtml(html: string, { track, linkOf, pixelUrl, ownPrefixes }: TrackOptions): string {
  const document = parse(html, { sourceCodeLocationInfo: true })
  // By their place: a link that is not closed becomes one element in each block that follows, all from one tag.
  const edits = new Map<number, Edit>()
  let bodyEnd = html.length
  for (const element of elementsOf(document)) {
    const location = element.sourceCodeLocation
    if (element.tagName === 'body' && location?.endTag) bodyEnd = location.endTag.startOffset
    const href = element.attrs.find(({ name }) => name === 'href')?.value
    const at = location?.attrs?.href
    if (!track.clicks || element.tagName !== 'a' || href === undefined || !at) continue
    const url = countableUrl(href)
    if (url === undefined || ownPrefixes.some(prefix => url.startsWith(prefix))) continue
    edits.set(at.startOffset, { to: at.endOffset, text: `href="${linkOf(url)}"` })
  }
  if (track.opens) {
    const pixel = `<img src="${pixelUrl}" width="1" height="1" alt="" style="display:block;border:0">`
    edits.set(bodyEnd, { to: bodyEnd, text: pixel })
  }
  return applyEdits(html, edits)
}

/** Returns the exact URL that a browser would open; undefined if it is not of the web or not countable. */
function countableUrl(href: string): string | undefined {
  const text = href.trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined
  const exact = PRINTABLE.test(text) ? text : url.href
  return exact.length <= MAX_URL_LENGTH ? exact : undefined
}

function* elementsOf(node: DefaultTreeAdapterTypes.Node): Generator<DefaultTreeAdapterTypes.Element> {
  const waiting = [node]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if ('tagName' in next) yield next
    if ('childNodes' in next) waiting.push(...next.childNodes)
    if ('content' in next) waiting.push(next.content)
  }
}

/** Replaces parts of the HTML; the keys are where each begins. */
function applyEdits(html: string, edits: ReadonlyMap<number, Edit>): string {
  let result = ''
  let position = 0
  for (const [from, { to, text }] of [...edits].sort(([a], [b]) => a - b)) {
    result += html.slice(position, from) + text
    position = to
  }
  return result + html.slice(position)
}
