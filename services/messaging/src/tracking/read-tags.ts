import { foreignContent, html as names, type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5'

const { NS, TAG_ID } = names
type Tag = Token.TagToken

/** Elements whose content is text, and how the tokenizer reads it. */
const textModes = new Map<number, (typeof TokenizerMode)[keyof typeof TokenizerMode]>([
  [TAG_ID.TITLE, TokenizerMode.RCDATA],
  [TAG_ID.TEXTAREA, TokenizerMode.RCDATA],
  [TAG_ID.STYLE, TokenizerMode.RAWTEXT],
  [TAG_ID.XMP, TokenizerMode.RAWTEXT],
  [TAG_ID.IFRAME, TokenizerMode.RAWTEXT],
  [TAG_ID.NOEMBED, TokenizerMode.RAWTEXT],
  [TAG_ID.NOFRAMES, TokenizerMode.RAWTEXT],
  [TAG_ID.NOSCRIPT, TokenizerMode.RAWTEXT],
  [TAG_ID.SCRIPT, TokenizerMode.SCRIPT_DATA],
  [TAG_ID.PLAINTEXT, TokenizerMode.PLAINTEXT],
])

const roots = new Map<number, names.NS>([
  [TAG_ID.SVG, NS.SVG],
  [TAG_ID.MATH, NS.MATHML],
])

/**
 * Reads the tags of HTML in order, each with its location, in linear time and constant memory. It builds no tree: browsers
 * reopen unclosed elements in every block that follows, so a tree can have the square of the elements of its source.
 */
export function readTags(html: string, on: { start(tag: Tag): void; end(tag: Tag): void }): void {
  const ignore = () => {}
  const foreign = createForeignContent()
  const handler: TokenHandler = {
    onStartTag(tag) {
      const mode = foreign.start(tag) ? undefined : textModes.get(tag.tagID)
      if (mode !== undefined) tokenizer.state = mode
      tokenizer.inForeignNode = foreign.isInside()
      on.start(tag)
    },
    onEndTag(tag) {
      foreign.end(tag)
      tokenizer.inForeignNode = foreign.isInside()
      on.end(tag)
    },
    onComment: ignore,
    onDoctype: ignore,
    onEof: ignore,
    onCharacter: ignore,
    onNullCharacter: ignore,
    onWhitespaceCharacter: ignore,
  }
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, handler)
  tokenizer.write(html, true)
}

/** Follows which tags are of SVG or MathML: there, `<style>` and the like hold markup and may be closed by `/>`. */
function createForeignContent() {
  /** Roots of foreign content, and the elements in it that hold HTML again, outermost first. */
  const open: { tagName: string; namespace: names.NS }[] = []
  const namespace = () => open.at(-1)?.namespace ?? NS.HTML
  const isInside = () => namespace() !== NS.HTML
  return {
    isInside,
    /** Returns whether the element of a start tag is foreign. */
    start(tag: Tag): boolean {
      while (isInside() && foreignContent.causesExit(tag)) open.pop()
      const outer = namespace()
      const { tagName, selfClosing } = tag
      const root = outer === NS.HTML || open.at(-1)?.tagName === tagName ? roots.get(tag.tagID) : undefined
      if (outer === NS.SVG) foreignContent.adjustTokenSVGTagName(tag)
      const holdsHtml = isInside() && foreignContent.isIntegrationPoint(tag.tagID, outer, tag.attrs)
      if (!selfClosing && (root || holdsHtml)) open.push({ tagName, namespace: root ?? NS.HTML })
      return root !== undefined || outer !== NS.HTML
    },
    end({ tagName }: Tag): void {
      while (isInside() && (tagName === 'p' || tagName === 'br')) open.pop()
      // An end tag closes unclosed elements in its own. Further out than this, that is not worth a search.
      const at = [-1, -2].find(index => open.at(index)?.tagName === tagName)
      if (at !== undefined) open.splice(at)
    },
  }
}
