import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import type { Events } from '@rollcall/protos/gen/events.ts'
import type { Client } from '@rollcall/rpc'
import {
  jsonOf,
  type Page,
  refusalOf,
  startTestContent,
  streamedJsonOf,
  type TestContent,
  testCaller,
} from '../../test/content.ts'

describe('links', () => {
  let content: TestContent
  let links: Client<'rollcall.content.v1.Links'>
  before(async () => {
    content = await startTestContent()
    links = content.client('rollcall.content.v1.Links')
  })
  after(() => content.stop())

  const me = testCaller()
  const create = (request: object, caller = me) =>
    jsonOf<LinkJson>(links.createLink({ url: 'https://example.com/', ...request }, caller))

  it('are created with a slug of their own', async () => {
    const link = await create({ url: 'HTTPS://Example.com/a b?q=ä#f', title: 'A' })
    assert.match(link.slug, /^[23456789abcdefghjkmnpqrstuvwxyz]{7}$/)
    const { url, title, active, expiresAt, clicks, uniqueClicks, lastClickedAt, shortUrl, createdBy } = link
    assert.deepEqual([url, title, active, expiresAt], ['https://example.com/a%20b?q=%C3%A4#f', 'A', true, null])
    assert.deepEqual([clicks, uniqueClicks, lastClickedAt], [0, 0, null])
    assert.equal(shortUrl, `https://rollcall.test/l/${link.slug}`)
    assert.equal(createdBy.name, 'User One')
    assert.deepEqual(await jsonOf(links.getLink({ id: link.id }, me)), link)
  })

  it('refuse URLs that are not of the web', async () => {
    for (const url of [
      'javascript:alert(1)',
      'ftp://example.com',
      'example.com',
      'https://user:pw@example.com',
      '//a.b',
    ])
      assert.equal(await refusalOf(create({ url })), 'request.invalid_field url', url)
  })

  it('refuse slugs of another form', async () => {
    for (const slug of ['ab', '-abc', 'Abc', 'a_b', 'a'.repeat(51), 'a/b', 'äbc'])
      assert.equal(await refusalOf(create({ slug })), 'request.invalid_field slug', slug)
  })

  it('never give a slug twice, in no organization and not after its link is deleted', async () => {
    const { id, slug } = await create({ slug: 'summer-sale' })
    assert.equal(await refusalOf(create({ slug })), 'record.duplicate slug')
    assert.equal(await refusalOf(create({ slug }, testCaller())), 'record.duplicate slug')
    assert.equal((await jsonOf<LinkJson>(links.deleteLink({ id }, me))).slug, slug)
    assert.equal(await refusalOf(create({ slug })), 'record.duplicate slug')
    assert.equal(await refusalOf(links.getLink({ id }, me)), 'link.not_found')
    assert.equal(await refusalOf(links.deleteLink({ id }, me)), 'link.not_found')
    assert.equal(await refusalOf(links.updateLink({ id, title: 'x' }, me)), 'link.not_found')
    const stored = await content.db.collection('links').findOne({ slug })
    assert.deepEqual([stored?.url, stored?.title], ['-', ''])
  })

  it('give a slug once to concurrent requests', async () => {
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => create({ slug: 'race' }, testCaller())))
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  it('are as many as an organization may have, without those that are deleted', async t => {
    const other = testCaller()
    const first = await create({}, other)
    t.mock.property(content.config, 'LINKS_PER_ORGANIZATION', 1)
    assert.equal(await refusalOf(create({}, other)), 'quota.exceeded')
    await links.deleteLink({ id: first.id }, other)
    await create({}, other)
  })

  it('change, except the slug', async () => {
    const { id, slug } = await create({})
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    await links.updateLink({ id, url: 'http://example.org', title: 'B', active: false, expiresAt }, me)
    const changed = await jsonOf<LinkJson>(links.getLink({ id }, me))
    assert.deepEqual(
      [changed.url, changed.title, changed.active, changed.expiresAt, changed.slug],
      ['http://example.org/', 'B', false, expiresAt, slug],
    )
    await links.updateLink({ id, expiresAt: '' }, me)
    assert.equal((await jsonOf<LinkJson>(links.getLink({ id }, me))).expiresAt, null)
  })

  it('publish what happens to them', async () => {
    const made = await create({ title: 'A' })
    await links.updateLink({ id: made.id, url: 'https://example.org', title: 'A' }, me)
    await links.updateLink({ id: made.id, title: 'A' }, me)
    await links.deleteLink({ id: made.id }, me)
    const events = await content.eventsOf(made.id)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['link.created', 'link.updated', 'link.deleted'],
    )
    const [created, changed, deleted] = events.map(({ data }) => data as unknown as Events['link.updated'])
    assert.deepEqual(created!.link, made)
    assert.deepEqual(changed!.changes, { url: { from: 'https://example.com/', to: 'https://example.org/' } })
    assert.deepEqual([deleted!.link.url, deleted!.link.slug], ['https://example.org/', made.slug])
    assert.deepEqual(deleted!.actor, made.createdBy)
  })

  it('refuse an end in the past, and change nothing then', async () => {
    const expiresAt = new Date(Date.now() - 1000).toISOString()
    assert.equal(await refusalOf(create({ expiresAt })), 'request.invalid_field expiresAt')
    const link = await create({})
    assert.equal(
      await refusalOf(links.updateLink({ id: link.id, title: 'x', expiresAt }, me)),
      'request.invalid_field expiresAt',
    )
    assert.deepEqual(await jsonOf(links.getLink({ id: link.id }, me)), link)
  })

  it('are listed by the shared parameters, without those of others', async () => {
    const mine = testCaller()
    for (const title of ['one', 'two', 'three']) await create({ title }, mine)
    const { id } = await create({ title: 'deleted' }, mine)
    await links.deleteLink({ id }, mine)
    const list = { filter: '{"title":{"$in":["one","three","deleted"]}}', sort: '{"title":1}' }
    const page = await streamedJsonOf<Page<LinkJson>>(links.listLinks({ list }, mine))
    assert.deepEqual([page.docs.map(({ title }) => title), page.totalDocs], [['one', 'three'], 2])
    assert.match(page.docs[0]!.shortUrl, /\/l\//)
    const others = await streamedJsonOf<Page<LinkJson>>(links.listLinks({}, testCaller()))
    assert.equal(others.totalDocs, 0)
    assert.equal(await refusalOf(links.getLink({ id: page.docs[0]!.id }, testCaller())), 'link.not_found')
  })
})
