import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { readTags } from './read-tags.ts'

/** Returns where the links of the tags begin. */
function linksByTags(html: string): number[] {
  const places: number[] = []
  readTags(html, {
    start: ({ tagName, location }) => void (tagName === 'a' && places.push(location!.startOffset)),
    end: () => {},
  })
  return places
}

/** Returns where the links of the tree begin, which is built as the standard says. */
function linksByTree(html: string): number[] {
  const places = new Set<number>()
  const waiting: DefaultTreeAdapterTypes.Node[] = [parse(html, { sourceCodeLocationInfo: true })]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if ('tagName' in node && node.tagName === 'a') places.add(node.sourceCodeLocation!.startOffset)
    if ('childNodes' in node) waiting.push(...node.childNodes)
    if ('content' in node) waiting.push(node.content)
  }
  return [...places].sort((a, b) => a - b)
}

const link = '<a href="https://example.com">'

it('takes as tags what is in the tree, and no text or comment', () => {
  for (const html of [
    ...['title', 'textarea', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'script'].map(
      name => `${link}<${name}>${link}</${name}>${link}`,
    ),
    `${link}<plaintext>${link}</plaintext>${link}`,
    `<!-- ${link} -->${link}<![CDATA[${link}]]>`,
    `<script><!--<script>${link}</script>${link}--></script>${link}`,
    `<svg><style/>${link}<![CDATA[${link}]]></svg>${link}`,
    `<svg><title><style>${link}</style></title><style>${link}</style></svg><style>${link}</style>${link}`,
    `<svg><foreignObject><title>${link}</title></foreignObject><title/>${link}</svg>${link}`,
    `<svg><svg></svg><title/>${link}</svg><title>${link}</title>${link}`,
    `<math><mi><style>${link}</style></mi><style/>${link}</math>${link}`,
    `<svg><div><style>${link}</style>${link}`,
    `<svg></p><style>${link}</style>${link}`,
    `<math/><style>${link}</style>${link}`,
  ])
    assert.deepEqual(linksByTags(html), linksByTree(html), html)
})

it('agrees with the tree, whatever is nested and unclosed', () => {
  const names = ['div', 'p', 'b', 'table', 'td', 'body', 'title', 'style', 'script', 'svg', 'math', 'desc', 'mi', 'img']
  const name = fc.constantFrom(...names)
  const part = fc.oneof(
    name.map(name => `<${name}>`),
    name.map(name => `</${name}>`),
    name.map(name => `<${name}/>`),
    fc.constantFrom(link, '</a>', `<!--${link}-->`, `<![CDATA[${link}]]>`, 'text', '<', '"'),
  )
  const html = fc.array(part, { maxLength: 20 }).map(parts => parts.join(''))
  fc.assert(fc.property(html, html => assert.deepEqual(linksByTags(html), linksByTree(html))))
})

it('needs little memory for HTML whose tree is huge', async () => {
  const count = 1600
  const unclosed = Array.from({ length: count }, (_, index) => `<b a${index}>`).join('')
  const html = '<div>'.repeat(count) + unclosed + '</div>x'.repeat(count)
  const code = `
    const { workerData } = require('node:worker_threads')
    import(workerData.module).then(({ readTags }) => readTags(workerData.html, { start() {}, end() {} }))`
  const workerData = { html, module: new URL('./read-tags.ts', import.meta.url).href }
  const resourceLimits = { maxOldGenerationSizeMb: 64 }
  const [exitCode] = await once(new Worker(code, { eval: true, workerData, resourceLimits }), 'exit')
  assert.equal(exitCode, 0)
})
