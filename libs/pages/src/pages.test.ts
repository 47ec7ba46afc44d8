import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { formOf, html, notFoundPage, redirectTo, renderPage } from './index.ts'

const request = (contentType: string, body: string) => ({
  key: '',
  query: '',
  language: 'en' as const,
  isHead: false,
  isPrefetch: false,
  contentType,
  origin: '',
  referer: '',
  body: Buffer.from(body),
})

describe('public pages', () => {
  it('escape every value that is not HTML itself', () => {
    const hostile = `<img src=x onerror="alert('1')">&`
    const inner = html`<b title="${hostile}">${hostile}</b>`
    const escaped = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;'
    assert.equal(String(inner), `<b title="${escaped}">${escaped}</b>`)
    assert.equal(String(html`${inner}${[inner, inner]}${null}${false}${0}`), `${String(inner).repeat(3)}0`)
  })

  it('have a language, a title, a heading, and only the style that their policy allows', () => {
    const { contentType, data, contentSecurityPolicy, status } = renderPage({
      language: 'de',
      title: 'Hallo <Welt>',
      body: html`<p>Text</p>`,
    })
    const text = data.toString()
    assert.deepEqual([status, contentType], [200, 'text/html; charset=utf-8'])
    assert.match(text, /^<!doctype html>\n<html lang="de">/)
    assert.match(text, /<title>Hallo &lt;Welt&gt;<\/title>/)
    assert.match(text, /<h1>Hallo &lt;Welt&gt;<\/h1>\n<p>Text<\/p>/)
    assert.match(text, /<meta name="robots" content="noindex">/)
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    assert.ok(contentSecurityPolicy?.includes(`style-src 'sha256-${hash}'`))
    assert.match(contentSecurityPolicy ?? '', /^default-src 'none';/)
    assert.doesNotMatch(text, /<script|style="|https?:/)
  })

  it('say in both languages that there is none', () => {
    assert.match(notFoundPage('en').data.toString(), /<h1>Page not found<\/h1>/)
    assert.match(notFoundPage('de').data.toString(), /<h1>Seite nicht gefunden<\/h1>/)
    assert.equal(notFoundPage('en').status, 404)
  })

  it('redirect', () => {
    assert.deepEqual(
      [redirectTo('/x').status, redirectTo('/x', 303).status, redirectTo('/x').location],
      [302, 303, '/x'],
    )
  })

  it('read forms in both encodings of browsers, without files', async () => {
    const encoded = await formOf(request('application/x-www-form-urlencoded; charset=UTF-8', 'a=1&a=2&b=%C3%BC+x'))
    assert.equal(String(encoded), 'a=1&a=2&b=%C3%BC+x')
    const part = (head: string, value: string) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
    const body = `${part('name="List-Unsubscribe"', 'One-Click')}${part('name="f"; filename="f.txt"', 'text')}--x--\r\n`
    const multipart = await formOf(request('multipart/form-data; boundary=x', body))
    assert.equal(String(multipart), 'List-Unsubscribe=One-Click')
  })

  it('read nothing else as a form', async () => {
    assert.equal(await formOf(request('application/json', '{}')), undefined)
    assert.equal(await formOf(request('', 'a=1')), undefined)
    assert.equal(await formOf(request('multipart/form-data; boundary=x', 'nonsense')), undefined)
    assert.equal(await formOf(request('multipart/form-data', 'nonsense')), undefined)
  })
})
