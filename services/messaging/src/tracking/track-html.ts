import { readTags } from './read-tags.ts'

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

type Edit = { from: number; to: number; text: string }

/** Returns the HTML of a mail with counting links and a pixel; everything else stays as it is, byte by byte. */
export function trackHtml(html: string, { track, linkOf, pixelUrl, ownPrefixes }: TrackOptions): string {
  const edits: Edit[] = []
  let bodyEnd = html.length
  readTags(html, {
    start({ tagName, attrs, location }) {
      const href = attrs.find(({ name }) => name === 'href')?.value
      const at = location?.attrs?.href
      if (!track.clicks || tagName !== 'a' || href === undefined || !at) return
      const url = countableUrl(href)
      if (url === undefined || ownPrefixes.some(prefix => url.startsWith(prefix))) return
      edits.push({ from: at.startOffset, to: at.endOffset, text: `href="${linkOf(url)}"` })
    },
    end({ tagName, location }) {
      if (tagName === 'body' && location) bodyEnd = location.startOffset
    },
  })
  if (track.opens) {
    const pixel = `<img src="${pixelUrl}" width="1" height="1" alt="" style="display:block;border:0">`
    edits.push({ from: bodyEnd, to: bodyEnd, text: pixel })
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

function applyEdits(html: string, edits: Edit[]): string {
  let result = ''
  let position = 0
  for (const { from, to, text } of edits.sort((a, b) => a.from - b.from)) {
    result += html.slice(position, from) + text
    position = to
  }
  return result + html.slice(position)
}
