import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import type { PreviewJson, TemplateJson } from '@rollcall/protos/gen/campaigns-v1.ts'
import type { Events } from '@rollcall/protos/gen/events.ts'
import type { Caller, Client } from '@rollcall/rpc'
import { Types } from 'mongoose'
import {
  jsonOf,
  type Page,
  startOwnCampaigns,
  startTestCampaigns,
  streamedJsonOf,
  type TestCampaigns,
  testCaller,
} from '../../test/campaigns.ts'

type Me = { caller: Caller }

describe('templates', () => {
  let campaigns: TestCampaigns
  let templates: Client<'rollcall.campaigns.v1.Templates'>
  before(async () => {
    campaigns = await startTestCampaigns()
    templates = campaigns.client('rollcall.campaigns.v1.Templates')
  })
  after(() => campaigns.stop())

  const create = (me: Me, rest: object = {}) =>
    jsonOf<TemplateJson>(
      templates.createTemplate({ name: `Template ${new Types.ObjectId()}`, html: '<p>Hello</p>', ...rest }, me),
    )
  const get = (me: Me, id: string) => jsonOf<TemplateJson>(templates.getTemplate({ id }, me))
  const list = (me: Me, query: object = {}) =>
    streamedJsonOf<Page<TemplateJson>>(templates.listTemplates({ list: query }, me))
  const preview = (me: Me, id: string, rest: object = {}) =>
    jsonOf<PreviewJson>(templates.previewTemplate({ id, ...rest }, me))

  it('give their content to messages of their organization', async () => {
    const me = testCaller()
    const { id } = await create(me, { subject: 'Hi', text: 'Hello' })
    assert.deepEqual(await campaigns.contentOf(id, me), { subject: 'Hi', html: '<p>Hello</p>', text: 'Hello' })
    const plain = await create(me)
    assert.deepEqual(await campaigns.contentOf(plain.id, me), { html: '<p>Hello</p>' })
    for (const [unknown, caller] of [
      [id, testCaller()],
      [String(new Types.ObjectId()), me],
    ] as const)
      await assert.rejects(campaigns.contentOf(unknown, caller), { code: 'template.unknown' })
  })

  it('are made, read, updated and deleted, each with its event', async () => {
    const me = testCaller()
    const made = await create(me, {
      name: 'News',
      subject: 'Hi {{ contact.name }}',
      text: 'Hi',
      description: 'Monthly',
    })
    assert.deepEqual([made.subject, made.html, made.text], ['Hi {{ contact.name }}', '<p>Hello</p>', 'Hi'])
    assert.deepEqual([made.description, made.createdBy.id], ['Monthly', me.caller.userId])
    assert.deepEqual(await get(me, made.id), made)
    const plain = await create(me)
    assert.deepEqual([plain.subject, plain.text, plain.description], [null, null, ''])

    await templates.updateTemplate({ id: made.id, subject: '', text: '', html: '<p>Bye</p>' }, me)
    await templates.updateTemplate({ id: made.id, html: '<p>Bye</p>' }, me) // changes nothing
    const changed = await get(me, made.id)
    assert.deepEqual([changed.subject, changed.text, changed.html], [null, null, '<p>Bye</p>'])
    assert.deepEqual((await list(me, { filter: '{"name":"news"}' })).docs, [changed])
    assert.deepEqual(await jsonOf(templates.deleteTemplate({ id: made.id }, me)), changed)
    await assert.rejects(get(me, made.id), { code: 'template.not_found' })
    const events = await campaigns.eventsOf(made.id)
    assert.deepEqual(
      events.map(({ type, data }) => [type, (data as { changed?: string[] }).changed]),
      [
        ['template.created', undefined],
        ['template.updated', ['html', 'subject', 'text']],
        ['template.deleted', undefined],
      ],
    )
    const { changes } = events[1]!.data as unknown as Events['template.updated']
    assert.deepEqual(changes, { subject: { from: 'Hi {{ contact.name }}', to: null } })
  })

  it('have names that are unique in their organization, whatever their case', async () => {
    const me = testCaller()
    const { id } = await create(me, { name: 'News' })
    const other = await create(me)
    const isTaken = { code: 'record.duplicate', path: 'name' }
    await assert.rejects(create(me, { name: 'NEWS' }), isTaken)
    await assert.rejects(templates.updateTemplate({ id: other.id, name: 'news' }, me), isTaken)
    await templates.updateTemplate({ id, name: 'NEWS' }, me)
    await create(testCaller(), { name: 'News' })
  })

  it('are refused where they do not parse, with line and column, and nothing changes', async () => {
    const me = testCaller()
    const made = await create(me)
    const bad = [
      [{ html: 'a\n{% foo %}' }, 'html', 'invalid field -> html: line 2, column 1: tag "foo" not found'],
      [{ text: '{{ a' }, 'text', 'invalid field -> text: line 1, column 1: output "{{ a" not closed'],
      [{ subject: '{{ a | nope }}' }, 'subject', 'invalid field -> subject: line 1, column 1: undefined filter: nope'],
    ] as const
    for (const [change, path, message] of bad) {
      const refusal = { code: 'request.invalid_field', path, message }
      await assert.rejects(create(me, change), refusal)
      await assert.rejects(templates.updateTemplate({ id: made.id, ...change }, me), refusal)
    }
    assert.deepEqual((await list(me)).docs, [made])
  })

  it('show a contact, the oldest one, or a sample', async () => {
    const me = testCaller()
    const source = '{{ contact.name }}|{{ contact.attributes.plan }}|{{ organization.name }}|{{ data.code }}'
    const { id } = await create(me, { subject: '{{ contact.email }}', html: source })
    assert.deepEqual(await preview(me, id), {
      subject: 'ada@example.com',
      html: 'Ada Lovelace||Acme|',
      text: 'Ada Lovelace||Acme|',
    })
    const { organizationId } = me.caller
    campaigns.audience.add(organizationId, 'one@example.com', { name: '<One>', attributes: { plan: 'pro' } })
    const two = campaigns.audience.add(organizationId, 'two@example.com', { name: 'Two' })
    const shown = await preview(me, id, { data: { code: 42 } })
    assert.deepEqual([shown.subject, shown.html], ['one@example.com', '&lt;One&gt;|pro|Acme|42'])
    assert.equal((await preview(me, id, { contactId: two.id })).subject, 'two@example.com')
    const unsaved = await preview(me, id, { subject: 'Hi {{ contact.name }}', html: '<p>Unsaved</p>' })
    assert.deepEqual([unsaved.subject, unsaved.html], ['Hi <One>', '<p>Unsaved</p>'])
    await assert.rejects(preview(me, id, { html: '{% if' }), { code: 'request.invalid_field', path: 'html' })
    assert.equal((await get(me, id)).html, source)
    const unknown = { id, contactId: String(new Types.ObjectId()) }
    await assert.rejects(templates.previewTemplate(unknown, me), { code: 'contact.not_found' })
  })

  it('that take too long are not shown', async () => {
    const me = testCaller()
    const loop = '{% for i in (1..2000) %}'
    const { id } = await create(me, { html: `${loop}${loop}{% endfor %}{% endfor %}` })
    await assert.rejects(preview(me, id), {
      code: 'request.invalid_field',
      message: 'invalid field -> html: takes longer than 50 ms',
    })
  })

  it('cannot be shown while the audience is down', async () => {
    const me = testCaller()
    const { id } = await create(me)
    campaigns.audience.failure = new AppError('service.unavailable')
    try {
      await assert.rejects(preview(me, id), { code: 'service.unavailable' })
    } finally {
      campaigns.audience.failure = undefined
    }
  })

  it('are unknown to another organization', async () => {
    const [mine, theirs] = [testCaller(), testCaller()]
    const { id } = await create(mine)
    const attempts = [
      () => get(theirs, id),
      () => templates.updateTemplate({ id, name: 'Theirs' }, theirs),
      () => templates.deleteTemplate({ id }, theirs),
      () => preview(theirs, id),
    ]
    for (const attempt of attempts) await assert.rejects(async () => attempt(), { code: 'template.not_found' })
    assert.deepEqual((await list(theirs)).docs, [])
  })

  it('are limited in number', async () => {
    const own = await startOwnCampaigns({ TEMPLATES_PER_ORGANIZATION: '1' })
    try {
      const me = testCaller()
      const one = own.client('rollcall.campaigns.v1.Templates')
      await one.createTemplate({ name: 'One', html: 'x' }, me)
      await assert.rejects(one.createTemplate({ name: 'Two', html: 'x' }, me), { code: 'quota.exceeded' })
    } finally {
      await own.stop()
    }
  })
})
