import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contractRoutes, generateOpenApi, readExamples } from '@rollcall/contract'
import { renderReference } from './pages.ts'

const { routes } = contractRoutes()
const document = generateOpenApi(routes, '1.2.3', readExamples())
const pages = renderReference(document, { style: '/docs/a.css', script: '/docs/a.js' })
const pageOf = (path: string) => pages.get(path) ?? assert.fail(`no page ${path}`)
/** Returns the section of an operation. */
const sectionOf = (path: string, id: string) =>
  pageOf(path)
    .split('<section ')
    .find(section => section.includes(`id="${id}"`)) ?? assert.fail(`no section ${id}`)

describe('the pages of the reference', () => {
  it('have a section for every operation, with a request and the answer of those that were recorded', () => {
    const text = [...pages.values()].join('\n')
    assert.equal(text.split('<section class="operation"').length - 1, routes.length)
    const section = sectionOf('/docs/contacts', 'create-contact')
    for (const part of ['Answer 201', 'data-language="curl"', 'data-language="typescript"', 'alex@example.com'])
      assert.ok(section.includes(part), part)
  })

  it('name the permission, the call of the SDK, the limit, and the errors with their text', () => {
    const section = sectionOf('/docs/contacts', 'create-contact')
    for (const part of ['<code>audience.create</code>', 'rollcall.contacts.create', 'Idempotency-Key'])
      assert.ok(section.includes(part), part)
    assert.match(section, /<td>409<\/td><td><code>record\.duplicate<\/code><\/td><td>duplicate -&#62; \{path\}<\/td>/)
    assert.match(sectionOf('/docs/authentication', 'login'), /20 requests in 60 seconds/)
    assert.match(sectionOf('/docs/authentication', 'login'), /Anyone may call it/)
  })

  it('lead nowhere else, and only to what is there', () => {
    for (const [path, text] of pages) {
      for (const [, link = ''] of text.matchAll(/ href="([^"]*)"/g)) {
        if (/^(data:,|\/openapi\.json|\/docs\/a\.css)$/.test(link)) continue
        const [target = '', anchor] = link.split('#')
        const page = pageOf(target === '' ? path : target)
        if (anchor) assert.ok(page.includes(` id="${anchor}"`), `${path} leads to ${link}`)
      }
    }
  })

  it('have ids of their own in each page', () => {
    for (const [path, text] of pages) {
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(match => match[1])
      assert.equal(new Set(ids).size, ids.length, path)
    }
  })

  it('contain no style or script of their own, and escape what texts contain', () => {
    for (const [path, text] of pages) assert.doesNotMatch(text, /<style| style=|<script>| on\w+="/, path)
    assert.match(
      pageOf('/docs/guides/authentication'),
      /&#60;organization id&#62;:&#60;secret&#62;|&lt;organization id/,
    )
    assert.doesNotMatch(pageOf('/docs/guides/authentication'), /<organization/)
  })
})
