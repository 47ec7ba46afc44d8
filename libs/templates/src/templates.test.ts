import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compile, hasUnsubscribeLink, type MailVariables, render, sampleContact, TemplateError } from './index.ts'

const variables: MailVariables = {
  contact: { email: 'zoe@example.com', name: '<Zoë> & "co"', attributes: { plan: 'pro', seats: 3 }, tags: ['a', 'b'] },
  campaign: { name: 'Spring' },
  organization: { name: 'Acme' },
  sender: { name: 'News', email: 'news@example.com' },
  unsubscribe_url: 'https://mail.example.com/u/token',
  data: { code: '42' },
}
const html = (source: string) => render({ subject: 's', html: source }, variables).html
const text = (source: string) => render({ subject: 's', text: source }, variables).text

/** Asserts that the content is refused, for this field and reason, and within a second of processor time. */
function assertRefused(content: Partial<Parameters<typeof render>[0]>, field: string, message: RegExp): void {
  const before = process.threadCpuUsage()
  assert.throws(
    () => render({ subject: 's', ...content }, variables),
    error => {
      assert.ok(error instanceof TemplateError)
      assert.equal(error.field, field)
      assert.match(error.message, message)
      return true
    },
  )
  const { user, system } = process.threadCpuUsage(before)
  assert.ok(user + system < 1_000_000, `took ${(user + system) / 1000} ms of processor time`)
}

describe('render', () => {
  it('shows every variable of a mail', () => {
    const source =
      '{{ contact.email }} {{ contact.attributes.plan }} {{ contact.attributes.seats }} {{ contact.tags | join: "+" }} ' +
      '{{ campaign.name }} {{ organization.name }} {{ sender.name }} {{ sender.email }} {{ data.code }} {{ unsubscribe_url }}'
    const expected = 'zoe@example.com pro 3 a+b Spring Acme News news@example.com 42 https://mail.example.com/u/token'
    assert.equal(text(source), expected)
    assert.equal(html(source), expected)
  })

  it('escapes values in HTML only, and keeps a subject on one line', () => {
    assert.equal(html('<b>{{ contact.name }}</b>'), '<b>&lt;Zoë&gt; &amp; &#34;co&#34;</b>')
    assert.equal(text('{{ contact.name }}'), '<Zoë> & "co"')
    const mail = render({ subject: 'Hi\r\n {{ contact.name }}\r\nBcc: x', text: 'x' }, variables)
    assert.equal(mail.subject, 'Hi <Zoë> & "co" Bcc: x')
  })

  it('shows nothing for an unknown variable', () => {
    assert.equal(html('[{{ contact.attributes.none }}{{ none.at.all }}]'), '[]')
  })

  it('makes the text from the HTML unless the content has one', () => {
    const source =
      '<style>p{}</style><h1>News</h1><p>Hi {{ contact.name }}</p><a href="{{ unsubscribe_url }}">Leave</a>'
    const made = render({ subject: 's', html: source }, variables)
    assert.equal(made.text, 'News\n\nHi <Zoë> & "co"\n\nLeave [https://mail.example.com/u/token]')
    assert.ok(hasUnsubscribeLink(made, 'https://mail.example.com/u/token'))
    const own = render({ subject: 's', html: source, text: 'own' }, variables)
    assert.equal(own.text, 'own')
    assert.ok(!hasUnsubscribeLink(own, 'https://mail.example.com/u/token'))
    assert.equal(render({ subject: 's', text: 'only' }, variables).html, null)
  })

  it('puts the preheader first in the body, and not in the text', () => {
    const content = { subject: 's', preheader: 'For {{ contact.name }}', html: '<body class="x"><p>Hello</p></body>' }
    const mail = render(content, variables)
    assert.match(mail.html!, /^<body class="x"><div style="display:none[^>]*>For &lt;Zoë&gt; .*<\/div><p>/)
    assert.equal(mail.text, 'Hello')
    assert.match(render({ ...content, html: '<p>Hello</p>' }, variables).html!, /^<div style="display:none/)
  })

  it('renders the sample contact', () => {
    assert.equal(
      render({ subject: '{{ contact.name }}', text: '' }, { contact: sampleContact() }).subject,
      'Ada Lovelace',
    )
  })

  it('shows the same to every contact, independent of earlier ones', () => {
    const template = compile({ subject: '{{ contact }}', text: '{% assign x = contact | append: x %}{{ x }}' })
    fc.assert(
      fc.property(fc.string(), contact => {
        assert.equal(template.render({ contact }).text, contact)
      }),
      { numRuns: 100 },
    )
  })
})

describe('errors', () => {
  it('name the part, the line and the column', () => {
    assertRefused({ html: 'a\n  {% foo %}' }, 'html', /^line 2, column 3: tag "foo" not found$/)
    assertRefused({ text: '{{ a' }, 'text', /^line 1, column 1: output "\{\{ a" not closed$/)
    assertRefused({ subject: '{% if a %}' }, 'subject', /^line 1, column 1: tag .* not closed$/)
    assertRefused({ html: '', preheader: '{{ a | nope }}' }, 'preheader', /^line 1, column \d: undefined filter: nope$/)
  })

  it('leave no tag that reads files', () => {
    for (const tag of ['include "/etc/passwd"', 'render "x"', 'layout "x"', 'block x']) {
      assertRefused({ html: `{% ${tag} %}` }, 'html', /tag ".*" not found$/)
    }
  })
})

describe('hostile templates', () => {
  const doubled = (step: string) => `{% assign s = "xxxxxxxx" %}${step.repeat(40)}{{ s | size }}`

  it('are stopped when they compute for too long', () => {
    const loop = '{% for i in (1..2000) %}'
    assertRefused({ html: `${loop}${loop}{% endfor %}{% endfor %}` }, 'html', /^takes longer than 50 ms$/)
    assertRefused({ subject: `${loop}${loop}{% endfor %}{% endfor %}`, text: '' }, 'subject', /^takes longer/)
    const many =
      '{% assign a = "b,a" | split: "," %}{% for i in (1..90000) %}{% assign b = a | sort | uniq %}{% endfor %}'
    assertRefused({ text: many }, 'text', /takes longer|too large/)
  })

  it('are stopped when they build too much', () => {
    assertRefused({ html: '{% for i in (1..1000000000) %}{% endfor %}' }, 'html', /too large/)
    assertRefused({ html: '{% for i in (1..9000) %}0123456789012345678901234567890{% endfor %}' }, 'html', /256 KiB/)
    assertRefused({ text: '€'.repeat(100_000) }, 'text', /256 KiB/)
    for (const step of [
      '{% assign s = s | append: s %}',
      '{% assign s = s | prepend: s %}',
      '{% assign s = s | replace: "x", "xx" %}',
      '{% assign s = s | split: "" | join: "xxxx" %}',
      '{% assign s = s | newline_to_br | append: s %}',
      '{% capture s %}{{ s }}{{ s }}{% endcapture %}',
      '{% capture s %}{{ s | raw }}{{ s | raw }}{% endcapture %}',
    ]) {
      assertRefused({ html: doubled(step) }, 'html', /too large|larger than|takes longer/)
    }
    assertRefused({ html: '{{ "now" | date: "%999999999d" }}' }, 'html', /too large/)
  })

  it('are stopped when they nest too deeply', () => {
    assertRefused({ html: `${'{% if true %}'.repeat(20_000)}${'{% endif %}'.repeat(20_000)}` }, 'html', /nested|longer/)
    assertRefused({ html: `{{ a${'[0'.repeat(20_000)}${']'.repeat(20_000)} }}` }, 'html', /nested|longer/)
  })

  it('survive HTML that no client could show', () => {
    const mail = render({ subject: 's', html: '<div>'.repeat(2000) }, variables)
    assert.equal(mail.html?.length, 10_000)
  })

  it('reach own properties only', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'contact.constructor.name',
      'contact.name.constructor',
      'contact.tags.constructor.constructor',
      'contact["__proto__"]',
      'contact.attributes.hasOwnProperty',
      'data["constructor"]',
    ]) {
      assert.equal(html(`[{{ ${path} }}]`), '[]', path)
    }
    assert.equal(html('{% assign __proto__ = "x" %}{{ contact.x }}{{ x }}'), '')
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })
})

describe('renderAll', () => {
  const people = ['Ada', 'Zoë', 'Kim'].map(name => ({ contact: { name } }))

  it('renders for each as render does', () => {
    const template = compile({ subject: 'Hi {{ contact.name }}', html: '<p>{{ contact.name }}</p>' })
    assert.deepEqual(
      template.renderAll(people),
      people.map(each => template.render(each)),
    )
    assert.deepEqual(template.renderAll([]), [])
  })

  it('returns what fails for one as its error, and the others', () => {
    const loop = '{% for i in (1..2000) %}'
    const slow = `{% if contact.name == "Zoë" %}${loop}${loop}{% endfor %}{% endfor %}{% endif %}{{ contact.name }}`
    const template = compile({ subject: 's', html: slow })
    for (const _ of [1, 2]) {
      const [ada, zoe, kim] = template.renderAll(people)
      assert.ok(zoe instanceof TemplateError)
      assert.equal(zoe.field, 'html')
      assert.deepEqual(
        [ada, kim].map(each => each instanceof TemplateError || each?.html),
        ['Ada', 'Kim'],
      )
    }
  })
})
