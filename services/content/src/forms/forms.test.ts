import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '@rollcall/contract'
import type { CollectionJson, CreateCollectionRequest, EntryJson } from '@rollcall/protos/gen/content-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { anonymousCaller, type Client } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import fc from 'fast-check'
import { mongo, Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  refusalOf,
  startTestContent,
  streamedJsonOf,
  type TestContent,
  testCaller,
} from '../../test/content.ts'

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

const fields: CreateCollectionRequest['fields'] = [
  { slug: 'email', name: 'Your email', type: 'email', required: true, unique: true },
  { slug: 'name', name: 'Name', type: 'string' },
  { slug: 'age', name: 'Age', type: 'number' },
  { slug: 'agreed', name: 'I agree', type: 'boolean' },
  { slug: 'day', name: 'Day', type: 'date' },
  { slug: 'size', name: 'Size', type: 'enum', options: ['S', 'M'] },
  { slug: 'site', name: 'Site', type: 'url' },
  { slug: 'message', name: 'Message', type: 'text' },
]
const form = { title: 'Join <us> & "them"' }

describe('forms', () => {
  let content: TestContent
  let collections: Client<'rollcall.content.v1.Collections'>
  let entries: Client<'rollcall.content.v1.Entries'>
  let pages: Client<'rollcall.content.v1.Forms'>
  before(async () => {
    content = await startTestContent()
    collections = content.client('rollcall.content.v1.Collections')
    entries = content.client('rollcall.content.v1.Entries')
    pages = content.client('rollcall.content.v1.Forms')
  })
  after(() => content.stop())
  beforeEach(() => content.neighbours.reset())

  const me = testCaller()
  let number = 0
  const create = (more: object = { form }) =>
    jsonOf<CollectionJson>(
      collections.createCollection({ name: 'Orders', slug: `form-${number++}`, fields, ...more }, me),
    )
  const page = (key: string, request: Partial<PageRequest> = {}): PageRequest => ({
    key,
    query: '',
    language: 'en',
    isHead: false,
    isPrefetch: false,
    contentType: '',
    origin: '',
    referer: '',
    body: Buffer.alloc(0),
    ...request,
  })
  const visitor = { caller: { ...anonymousCaller(), ip: '192.0.2.9', userAgent: 'Browser' } }
  const show = (key: string, request: Partial<PageRequest> = {}) => pages.showForm(page(key, request), visitor)
  const submit = (key: string, values: Record<string, unknown>, more: Partial<PageRequest> = {}) =>
    pages.submitForm(page(key, { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(values)), ...more }), visitor)
  const submitForm = (key: string, values: Record<string, string>, more: Partial<PageRequest> = {}) =>
    pages.submitForm(
      page(key, { contentType: FORM, body: Buffer.from(String(new URLSearchParams(values))), ...more }),
      visitor,
    )
  const entriesOf = async ({ id }: CollectionJson) =>
    (await streamedJsonOf<Page<EntryJson>>(entries.listEntries({ id }, me))).docs
  const textOf = ({ data }: PageResponse) => data.toString()
  const eventually = async (isTrue: () => boolean | Promise<boolean>, what: () => unknown) => {
    const end = Date.now() + scaledTimeout(10_000)
    while (!(await isTrue())) {
      assert.ok(Date.now() < end, `waited too long: ${JSON.stringify(what())}`)
      await sleep(20)
    }
  }

  describe('pages', () => {
    it('are made from the fields, escaped, without scripts', async () => {
      const { id } = await create({ form: { ...form, submitLabel: 'Send <it>' } })
      const { status, contentType, data, contentSecurityPolicy, referrerPolicy } = await show(id)
      const html = data.toString()
      assert.deepEqual([status, contentType, referrerPolicy], [200, 'text/html; charset=utf-8', 'same-origin'])
      assert.match(contentSecurityPolicy!, /default-src 'none'.*form-action 'self';/)
      assert.match(html, /<h1>Join &lt;us&gt; &amp; &quot;them&quot;<\/h1>/)
      assert.match(html, /Send &lt;it&gt;/)
      assert.doesNotMatch(html, /<script| on\w+=|<us>/)
      assert.match(html, new RegExp(`<form method="post" action="/api/forms/${id}/submit">`))
      for (const { slug } of fields) {
        assert.match(html, new RegExp(`<label for="${slug}">`), slug)
        assert.match(html, new RegExp(` id="${slug}" name="${slug}"`), slug)
      }
      assert.match(html, /<input type="email"[^>]* required>/)
      assert.match(html, /<option value="S">S<\/option>/)
    })

    it('speak the language of the reader', async () => {
      const { id } = await create()
      assert.match(textOf(await show(id)), /<html lang="en">[\s\S]*Submit/)
      assert.match(textOf(await show(id, { language: 'de' })), /<html lang="de">[\s\S]*Absenden/)
    })

    it('let browsers follow the redirect of the form', async () => {
      const { id } = await create({ form: { ...form, redirectUrl: 'https://shop.example.com/thanks' } })
      assert.match((await show(id)).contentSecurityPolicy!, /form-action 'self' https:\/\/shop\.example\.com;/)
    })

    it('do not exist for disabled, unknown and deleted forms', async () => {
      const [none, off, deleted] = [
        await create({}),
        await create({ form: { ...form, enabled: false } }),
        await create(),
      ]
      await collections.deleteCollection({ id: deleted.id }, me)
      for (const key of [none.id, off.id, deleted.id, 'f'.repeat(24), 'nonsense', '']) {
        assert.equal(await refusalOf(show(key)), 'page.not_found', key)
        assert.equal(await refusalOf(submit(key, { email: 'a@example.com' })), 'form.not_found', key)
      }
      assert.deepEqual([await entriesOf(none), await entriesOf(off)], [[], []])
    })
  })

  describe('definition', () => {
    it('is replaced as a whole', async () => {
      const made = await create({ form: { ...form, submitLabel: 'Go', allowedOrigins: ['https://a.example.com'] } })
      assert.deepEqual(made.form, {
        enabled: true,
        title: form.title,
        submitLabel: 'Go',
        redirectUrl: null,
        allowedOrigins: ['https://a.example.com'],
        contact: null,
      })
      await collections.updateCollection({ id: made.id, fields: [], form: { title: 'New' } }, me)
      const { form: changed } = await jsonOf<CollectionJson>(collections.getCollection({ id: made.id }, me))
      assert.deepEqual([changed?.title, changed?.submitLabel, changed?.allowedOrigins], ['New', '', []])
    })

    it('refuses what does not fit', async () => {
      const refusals: [object, string][] = [
        [{ redirectUrl: 'javascript:alert(1)' }, 'request.invalid_field form.redirectUrl'],
        [{ redirectUrl: 'https://user@example.com' }, 'request.invalid_field form.redirectUrl'],
        [{ allowedOrigins: ['https://a.example.com/path'] }, 'request.invalid_field form.allowedOrigins.0'],
        [{ allowedOrigins: ['null'] }, 'request.invalid_field form.allowedOrigins.0'],
        [{ contact: { email: 'name' } }, 'request.invalid_field form.contact.email'],
        [{ contact: { email: 'email', name: 'age' } }, 'request.invalid_field form.contact.name'],
        [
          { contact: { email: 'email', attributes: { plan: 'x' } } },
          'request.invalid_field form.contact.attributes.plan',
        ],
        [
          { contact: { email: 'email', attributes: { other: 'name' } } },
          'request.invalid_field form.contact.attributes.other',
        ],
        [{ contact: { email: 'email', lists: ['b'.repeat(24)] } }, 'request.invalid_field form.contact.lists.0'],
      ]
      for (const [more, refusal] of refusals)
        assert.equal(await refusalOf(create({ form: { ...form, ...more } })), refusal)
    })

    it('keeps the fields that make contacts', async () => {
      const { id } = await create({ form: { ...form, contact: { email: 'email' } } })
      const changed = collections.updateCollection({ id, fields: [fields[1]!] }, me)
      assert.equal(await refusalOf(changed), 'request.invalid_field form.contact.email')
    })

    it('needs the permission to create contacts if it makes them', async () => {
      const limited = { caller: { ...me.caller, permissions: ['collections.create', 'collections.update'] } }
      const request = { name: 'x', slug: 'limited', fields, form: { ...form, contact: { email: 'email' } } }
      assert.equal(await refusalOf(collections.createCollection(request, limited)), 'access.permission_denied')
    })

    it('maps the attributes that contacts must have, if it is enabled', async () => {
      content.neighbours.refuses = true
      const contact = { email: 'email' }
      const refusal = 'request.invalid_field form.contact.attributes.plan'
      assert.equal(await refusalOf(create({ form: { ...form, contact } })), refusal)
      await create({ form: { ...form, contact, enabled: false } })
      await create({ form: { ...form, contact: { ...contact, attributes: { plan: 'size' } } } })
    })

    it('needs a default sender for confirmations', async () => {
      content.neighbours.hasSender = false
      const contact = { email: 'email', doubleOptIn: true }
      assert.equal(await refusalOf(create({ form: { ...form, contact } })), 'form.no_sender')
      const { id } = await create({ form: { ...form, contact, enabled: false } })
      const enabled = collections.updateCollection({ id, fields: [], form: { ...form, contact } }, me)
      assert.equal(await refusalOf(enabled), 'form.no_sender')
    })
  })

  describe('submissions', () => {
    it('become entries, as JSON', async () => {
      const made = await create()
      const { status, data } = await submit(made.id, { email: 'A@example.com', age: 3, agreed: true, name: null })
      assert.deepEqual([status, JSON.parse(String(data))], [201, { success: true, message: 'submitted' }])
      const [entry] = await entriesOf(made)
      assert.deepEqual(entry?.values, { email: 'A@example.com', age: 3, agreed: true })
      assert.deepEqual([entry?.source, entry?.createdBy], ['form', { kind: 'system', id: null, name: 'form' }])
      const events = await content.eventsOf(made.id)
      assert.deepEqual(
        events.map(({ type, data }) => [type, (data as { entryId?: string }).entryId]),
        [
          ['collection.created', undefined],
          ['form.submitted', entry?.id],
        ],
      )
    })

    it('become entries, from a browser', async () => {
      const made = await create()
      const values = {
        email: 'a@example.com',
        name: '',
        age: '2.5',
        agreed: 'true',
        day: '2026-05-01',
        size: 'M',
        site: '',
      }
      const answer = await submitForm(made.id, values, { language: 'de' })
      assert.equal(answer.status, 201)
      assert.match(textOf(answer), /Vielen Dank/)
      const [entry] = await entriesOf(made)
      const day = '2026-05-01T00:00:00.000Z'
      assert.deepEqual(entry?.values, { email: 'a@example.com', age: 2.5, agreed: true, day, size: 'M' })
    })

    it('from a browser have no default for what the visitor emptied or unticked', async () => {
      const made = await create({
        form,
        fields: [
          { slug: 'news', name: 'News', type: 'boolean', default: true },
          { slug: 'terms', name: 'Terms', type: 'boolean', required: true, default: true },
          { slug: 'size', name: 'Size', type: 'enum', options: ['S', 'M'], default: 'S' },
          { slug: 'name', name: 'Name', type: 'string', required: true, default: 'Ann' },
          { slug: 'source', name: 'Source', type: 'string', default: 'web' },
        ],
      })
      const given = { terms: 'true', size: '', name: 'Bob' }
      assert.equal((await submitForm(made.id, given)).status, 201)
      assert.equal((await submitForm(made.id, { ...given, name: '' })).status, 400)
      assert.equal((await submitForm(made.id, { size: '', name: 'Bob' })).status, 400)
      assert.equal((await submit(made.id, { name: null })).status, 201)
      const [json, browser, ...more] = await entriesOf(made)
      assert.deepEqual(more, [])
      assert.deepEqual(browser?.values, { news: false, terms: true, name: 'Bob', source: 'web' })
      assert.deepEqual(json?.values, { news: true, terms: true, size: 'S', name: 'Ann', source: 'web' })
    })

    it('lead browsers to the page of the form', async () => {
      const redirectUrl = 'https://shop.example.com/thanks'
      const { id } = await create({ form: { ...form, redirectUrl } })
      const { status, location } = await submitForm(id, { email: 'a@example.com' })
      assert.deepEqual([status, location], [303, redirectUrl])
      assert.equal((await submit(id, { email: 'b@example.com' })).location, undefined)
    })

    it('are refused as everywhere, as JSON', async () => {
      const made = await create()
      const bad: [Record<string, unknown>, string][] = [
        [{}, 'request.missing_field email'],
        [{ email: 'a@example.com', other: 1 }, 'request.extra_field other'],
        [{ email: 'nobody' }, 'request.invalid_field email'],
        [{ email: 'a@example.com', age: '3' }, 'request.invalid_field age'],
        [{ email: 'a@example.com', name: { $ne: 1 } }, 'request.invalid_field name'],
      ]
      for (const [values, refusal] of bad) assert.equal(await refusalOf(submit(made.id, values)), refusal)
      await submit(made.id, { email: 'a@example.com' })
      assert.equal(await refusalOf(submit(made.id, { email: 'a@example.com' })), 'record.duplicate email')
      assert.equal((await entriesOf(made)).length, 1)
    })

    it('show browsers the form again, with what was wrong and what was given', async () => {
      const made = await create()
      const answer = await submitForm(made.id, { email: 'nobody', name: '"><script>x', message: '</textarea>' })
      const html = textOf(answer)
      assert.equal(answer.status, 400)
      assert.match(html, /role="alert"[\s\S]*Your email/)
      assert.match(html, /id="email"[^>]*aria-invalid="true" aria-describedby="email-error"/)
      assert.match(html, /id="email-error"[^>]*>Please enter an email address/)
      assert.match(html, /value="&quot;&gt;&lt;script&gt;x"/)
      assert.doesNotMatch(html, /<script>|<\/textarea><\/textarea>/)
      await submitForm(made.id, { email: 'a@example.com' })
      const again = await submitForm(made.id, { email: 'a@example.com' })
      assert.equal(again.status, 409)
      assert.match(textOf(again), /already submitted/)
      assert.equal((await entriesOf(made)).length, 1)
    })

    it('of programs that fill in the hidden field are dropped', async () => {
      const made = await create()
      assert.equal((await submitForm(made.id, { email: 'a@example.com', _website: 'x' })).status, 201)
      assert.equal((await submit(made.id, { email: 'a@example.com', _website: 'x' })).status, 201)
      assert.deepEqual(await entriesOf(made), [])
      assert.equal((await submitForm(made.id, { email: 'a@example.com', _website: '' })).status, 201)
      assert.equal((await entriesOf(made)).length, 1)
    })

    it('come from pages of ours and of allowed origins only', async () => {
      const made = await create({ form: { ...form, allowedOrigins: ['https://shop.example.com'] } })
      const from = (origin: string) => submit(made.id, { email: `${number++}@example.com` }, { origin })
      for (const origin of ['', 'https://rollcall.test', 'https://shop.example.com'])
        assert.equal((await from(origin)).status, 201, origin)
      for (const origin of [
        'null',
        'https://evil.example',
        'http://rollcall.test',
        'https://shop.example.com.evil.example',
      ])
        assert.equal(await refusalOf(from(origin)), 'form.origin_refused', origin)
      assert.equal((await entriesOf(made)).length, 3)
    })

    it('are refused when the collection is full', async t => {
      const { id } = await create()
      t.mock.property(content.config, 'ENTRIES_PER_COLLECTION', 1)
      assert.equal((await submit(id, { email: 'a@example.com' })).status, 201)
      assert.equal(await refusalOf(submit(id, { email: 'b@example.com' })), 'quota.exceeded')
      assert.equal(await refusalOf(submitForm(id, { email: 'b@example.com' })), 'quota.exceeded')
    })

    it('that are no flat object of limited size are refused', async () => {
      const { id } = await create()
      const raw = (contentType: string, body: string) =>
        refusalOf(pages.submitForm(page(id, { contentType, body: Buffer.from(body) }), visitor))
      assert.equal(await raw(JSON_TYPE, '[]'), 'form.malformed')
      assert.equal(await raw(JSON_TYPE, '{"a":'), 'form.malformed')
      assert.equal(await raw(JSON_TYPE, 'null'), 'form.malformed')
      assert.equal(await raw('text/plain', 'email=a@example.com'), 'form.wrong_content_type')
      assert.equal(await raw('', ''), 'form.wrong_content_type')
      assert.equal(await raw(JSON_TYPE, `{"message":"${'x'.repeat(65_536)}"}`), 'form.too_large')
    })

    it('get a declared answer whatever they are', async () => {
      const made = await create()
      const declared = new Set(['form.malformed', 'form.wrong_content_type', 'form.too_large', 'request.missing_field'])
      for (const code of ['request.extra_field', 'request.invalid_field', 'record.duplicate']) declared.add(code)
      const slugs = fc.constantFrom(
        ...fields.map(({ slug }) => slug),
        '__proto__',
        'constructor',
        '_website',
        '$where',
        '',
      )
      const hostile = fc.oneof(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('a@example.com', 'S', '1'),
      )
      const values = fc.dictionary(slugs, hostile, { noNullPrototype: true })
      const body = fc.oneof(
        values.map(value => ({ contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) })),
        fc
          .dictionary(slugs, fc.string())
          .map(value => ({ contentType: FORM, body: Buffer.from(String(new URLSearchParams(value))) })),
        fc.record({
          contentType: fc.constantFrom(JSON_TYPE, FORM, 'multipart/form-data; boundary=x'),
          body: fc.uint8Array().map(bytes => Buffer.from(bytes)),
        }),
      )
      const isDeclared = async (request: Partial<PageRequest>) => {
        const { status, code } = await pages.submitForm(page(made.id, request), visitor).then(
          answer => ({ status: answer.status, code: undefined }),
          (error: unknown) => ({ status: undefined, code: error instanceof AppError ? error.code : String(error) }),
        )
        assert.ok(code === undefined ? [201, 400, 409].includes(status!) : declared.has(code), `${status} ${code}`)
      }
      await fc.assert(fc.asyncProperty(body, isDeclared), { numRuns: 60, seed: 1 })
      assert.equal(({} as Record<string, unknown>).email, undefined)
    })
  })

  describe('contacts', () => {
    const contact = {
      email: 'email',
      name: 'name',
      attributes: { plan: 'size' },
      tags: ['form'],
      lists: ['a'.repeat(24)],
    }
    const signUpsOf = ({ id }: CollectionJson) => content.neighbours.applied.filter(each => each.collectionId === id)

    it('are made of submissions', async () => {
      const made = await create({ form: { ...form, contact } })
      await submit(made.id, { email: 'robin@example.com', name: 'Robin', size: 'M' })
      await eventually(
        () => signUpsOf(made).length === 1,
        () => content.neighbours,
      )
      const [signUp] = signUpsOf(made)
      const [entry] = await entriesOf(made)
      assert.deepEqual(
        { ...signUp, id: '', at: '' },
        {
          id: '',
          email: 'robin@example.com',
          name: 'Robin',
          attributes: { plan: 'M' },
          tags: ['form'],
          lists: ['a'.repeat(24)],
          collectionId: made.id,
          entryId: entry?.id,
          form: form.title,
          at: '',
        },
      )
      assert.deepEqual(content.neighbours.mails, [])
    })

    it('are made once, though the audience was down at first', async () => {
      const made = await create({ form: { ...form, contact: { email: 'email' } } })
      content.neighbours.isDown = true
      await submit(made.id, { email: 'robin@example.com' })
      await eventually(
        () => content.neighbours.attempts > 0,
        () => content.neighbours,
      )
      content.neighbours.isDown = false
      await eventually(
        () => signUpsOf(made).length === 1,
        () => content.neighbours,
      )
    })

    /** Changes a form after a submission has read it, before that is stored. */
    const changeMeanwhile = (t: TestContext, { id }: CollectionJson, $set: object) => {
      const { findOneAndUpdate } = mongo.Collection.prototype
      const stored = content.db.collection('collections')
      let changing: Promise<unknown> | undefined
      t.mock.method(
        mongo.Collection.prototype,
        'findOneAndUpdate',
        async function (this: mongo.Collection, ...args: unknown[]) {
          if (this.collectionName === stored.collectionName) {
            changing ??= stored.updateOne({ _id: new Types.ObjectId(id) }, { $set })
            await changing
          }
          return Reflect.apply(findOneAndUpdate, this, args)
        },
      )
    }

    it('are made as the form says when the submission is stored', async t => {
      const made = await create({ form: { ...form, contact: { email: 'email' } } })
      changeMeanwhile(t, made, { 'form.contact.doubleOptIn': true })
      await submit(made.id, { email: 'meanwhile@example.com' })
      const signUp = await content.db.collection('signups').findOne({ email: 'meanwhile@example.com' })
      assert.equal(signUp?.doubleOptIn, true)
    })

    it('are not made if the form is disabled meanwhile', async t => {
      const made = await create({ form: { ...form, contact: { email: 'email' } } })
      changeMeanwhile(t, made, { 'form.enabled': false })
      assert.equal(await refusalOf(submit(made.id, { email: 'disabled@example.com' })), 'form.not_found')
      assert.deepEqual(await entriesOf(made), [])
    })

    it('wait for the confirmation of the address', async () => {
      const made = await create({
        form: { ...form, contact: { ...contact, doubleOptIn: true, consent: 'Yes & <please>' } },
      })
      await submit(made.id, { email: 'kim@example.com', name: 'Kim' }, { language: 'de' })
      await eventually(
        () => content.neighbours.mails.length === 1,
        () => content.neighbours,
      )
      const [mail] = content.neighbours.mails
      assert.deepEqual([mail?.to, mail?.fromDefault, mail?.confirms], ['kim@example.com', true, true])
      assert.match(mail!.subject, /^Bitte bestätigen/)
      assert.doesNotMatch(mail!.text, /Kim/)
      const token = /https:\/\/rollcall\.test\/c\/([\w-]+)/.exec(mail!.text)![1]!
      assert.ok(Math.abs(Date.parse(mail!.expiresAt!) - Date.now() - 7 * 86_400_000) < scaledTimeout(60_000))

      const shown = await pages.showConfirmation(page(token), visitor)
      assert.match(textOf(shown), /k…@example\.com[\s\S]*Yes &amp; &lt;please&gt;[\s\S]*<button/)
      await pages.showConfirmation(page(token, { isHead: true }), visitor)
      assert.deepEqual(signUpsOf(made), [])

      assert.match(textOf(await pages.confirm(page(token), visitor)), /confirmed/)
      await eventually(
        () => signUpsOf(made).length === 1,
        () => content.neighbours,
      )
      const { confirmation } = signUpsOf(made)[0]!
      assert.deepEqual([confirmation?.ip, confirmation?.text], ['192.0.2.9', 'Yes & <please>'])

      await pages.confirm(page(token), visitor)
      assert.match(textOf(await pages.showConfirmation(page(token), visitor)), /confirmed/)
      assert.equal(signUpsOf(made).length, 1)
    })

    /** Signs an address up by a new form. Returns the form and the token of the mail that asks for confirmation. */
    const mailedToken = async (email: string) => {
      const made = await create({ form: { ...form, contact: { email: 'email', doubleOptIn: true } } })
      await submit(made.id, { email })
      await eventually(
        () => content.neighbours.mails.length === 1,
        () => content.neighbours,
      )
      return { made, token: /\/c\/([\w-]+)/.exec(content.neighbours.mails[0]!.text)![1]! }
    }

    it('are confirmed within 7 days, not later', async t => {
      const { token } = await mailedToken('late@example.com')
      const days = 7 * 86_400_000
      const ahead = t.mock.property(content.clock, 'aheadMs', days - scaledTimeout(60_000))
      assert.match(textOf(await pages.showConfirmation(page(token), visitor)), /l…@example\.com[\s\S]*<button/)
      ahead.mock.mockImplementation(days)
      assert.equal(await refusalOf(pages.showConfirmation(page(token), visitor)), 'page.not_found')
      assert.equal(await refusalOf(pages.confirm(page(token), visitor)), 'page.not_found')
      const stored = await content.db.collection('signups').findOne({ email: 'late@example.com' })
      assert.equal(stored?.confirmedAt, null)
    })

    it('are confirmed by no other token', async () => {
      const { made, token } = await mailedToken('kim2@example.com')
      const forged = fc.oneof(
        fc.nat(token.length - 1).map(at => token.slice(0, at)),
        fc.nat(token.length - 1).map(at => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)),
        fc.string(),
      )
      const isRefused = async (key: string) => {
        assert.equal(await refusalOf(pages.confirm(page(key), visitor)), 'page.not_found')
        assert.equal(await refusalOf(pages.showConfirmation(page(key), visitor)), 'page.not_found')
      }
      await fc.assert(fc.asyncProperty(forged, isRefused), { numRuns: 50, seed: 1 })
      assert.deepEqual(signUpsOf(made), [])
    })

    it('get at most three mails a day to an address', async () => {
      const made = await create({
        fields: fields.map(field => ({ ...field, unique: false })),
        form: { ...form, contact: { email: 'email', doubleOptIn: true } },
      })
      const other = await create({ form: { ...form, contact: { email: 'email', doubleOptIn: true } } })
      for (const email of ['sam@example.com', 'SAM@example.com', 'sam@example.com', 'sam@example.com'])
        assert.equal((await submit(made.id, { email })).status, 201)
      assert.equal((await submit(other.id, { email: 'sam@example.com' })).status, 201)
      const waiting = () => content.db.collection('signups').countDocuments({ dueAt: { $ne: null } })
      await eventually(
        async () => (await waiting()) === 0,
        () => content.neighbours.mails.length,
      )
      assert.equal(content.neighbours.mails.length, 3)
      assert.equal((await entriesOf(made)).length, 4)
    })

    it('are mailed when there is a default sender again', async () => {
      const made = await create({ form: { ...form, contact: { email: 'email', doubleOptIn: true } } })
      content.neighbours.hasSender = false
      await submit(made.id, { email: 'later@example.com' })
      const signUps = content.db.collection('signups')
      const stored = () => signUps.findOne({ email: 'later@example.com' })
      await eventually(async () => (await stored())?.dueAt > Date.now() + 60_000, stored)
      assert.match((await stored())?.refusal, /there is no default sender/)
      content.neighbours.hasSender = true
      await signUps.updateOne({ email: 'later@example.com' }, { $set: { dueAt: new Date() } })
      await eventually(
        () => content.neighbours.mails.length === 1,
        () => content.neighbours,
      )
      await eventually(async () => (await stored())?.refusal === null, stored)
    })

    it('are not made where the audience refuses', async () => {
      const made = await create({ form: { ...form, contact: { email: 'email' } } })
      content.neighbours.refuses = true
      await submit(made.id, { email: 'no@example.com' })
      const stored = () => content.db.collection('signups').findOne({ email: 'no@example.com' })
      await eventually(
        async () => (await stored())?.dueAt === null,
        () => content.neighbours,
      )
      assert.equal((await stored())?.refusal, 'missing field -> attributes.plan')
      assert.ok((await stored())?.expiresAt.getTime() <= Date.now() + 7 * 86_400_000)
    })
  })
})
