import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { trackHtml } from './track-html.ts'

const options = {
  track: { opens: true, clicks: true },
  linkOf: (url: string) => `https://t.example/c/${Buffer.from(url).toString('base64url')}`,
  pixelUrl: 'https://t.example/o/x.gif',
  ownPrefixes: ['https://t.example/u/', 'https://t.example/v/'],
}
const clicks = (html: string) => trackHtml(html, { ...options, track: { opens: false, clicks: true } })
const leadsTo = (html: string) => {
  const token = /t\.example\/c\/([\w-]+)/.exec(clicks(html))?.[1]
  return token && Buffer.from(token, 'base64url').toString()
}

describe('the HTML of a counted mail', () => {
  it('leads to the exact URLs', () => {
    for (const [href, url] of [
      ['https://example.com/a?b=1&amp;c=2#d', 'https://example.com/a?b=1&c=2#d'],
      [' HTTPS://Example.com/%7euser ', 'HTTPS://Example.com/%7euser'],
      ['https://example.com/ü', 'https://example.com/%C3%BC'],
      ['http://example.com', 'http://example.com'],
    ])
      assert.equal(leadsTo(`<a class=x href="${href}">x</a>`), url)
  })

  it('leaves other links and everything else as it is', () => {
    for (const html of [
      '<a href="https://t.example/u/token">out</a>',
      '<a href="https://t.example/v/token">in the browser</a>',
      '<a href="mailto:a@example.com">mail</a>',
      '<a href="tel:+491">call</a>',
      '<a href="#top">top</a>',
      '<a href="/path">path</a>',
      '<a name="x">anchor</a>',
      '<a href="javascript:alert(1)">no</a>',
      `<a href="https://example.com/${'x'.repeat(1500)}">long</a>`,
      '<!-- <a href="https://example.com">comment</a> --><p>Ünïcode &nbsp; <br>',
      '<img src="https://example.com/a.png"><link href="https://example.com/a.css">',
    ])
      assert.equal(clicks(html), html)
  })

  it('counts links in every spelling, and keeps the rest of their tag', () => {
    for (const [html, expected] of [
      ["<A HREF='https://example.com' title='a'>x</A>", /^<A href="https:\/\/t\.example\/c\/[\w-]+" title='a'>x<\/A>$/],
      [
        '<table><tr><td><a href=https://example.com>x</a>',
        /^<table><tr><td><a href="https:\/\/t\.example\/c\/[\w-]+">x<\/a>$/,
      ],
    ] as const)
      assert.match(clicks(html), expected)
  })

  it('counts a link that is not closed once, and keeps its tag', () => {
    const html = '<p><a href="https://example.com/1">a</p><p>b</p><div>c</div>'
    assert.match(clicks(html), /^<p><a href="https:\/\/t\.example\/c\/[\w-]+">a<\/p><p>b<\/p><div>c<\/div>$/)
  })

  it('has the pixel at the end of the body', () => {
    const opens = (html: string) => trackHtml(html, { ...options, track: { opens: true, clicks: false } })
    assert.match(
      opens('<html><body><p>x</p></body></html>'),
      /<p>x<\/p><img src="https:\/\/t\.example\/o\/x\.gif"[^>]*><\/body><\/html>$/,
    )
    assert.match(opens('<p>x</p>'), /^<p>x<\/p><img [^>]*>$/)
  })
})
