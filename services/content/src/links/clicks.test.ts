import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LinkClicksJson, LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { anonymousCaller, type Client } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import fc from 'fast-check'
import { jsonOf, refusalOf, startOwnContent, type TestContent, testCaller } from '../../test/content.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

type Visitor = { ip?: string; userAgent?: string } & Partial<PageRequest>

describe('following links', () => {
  let content: TestContent
  let links: Client<'rollcall.content.v1.Links'>
  before(async () => {
    content = await startOwnContent()
    links = content.client('rollcall.content.v1.Links')
  })
  after(() => content.stop())

  const me = testCaller()
  const create = (request: object = {}) =>
    jsonOf<LinkJson>(links.createLink({ url: 'https://example.com/', ...request }, me))
  const get = ({ id }: LinkJson) => jsonOf<LinkJson>(links.getLink({ id }, me))
  const clicksOf = ({ id }: LinkJson, query: object = {}) =>
    jsonOf<LinkClicksJson>(links.getLinkClicks({ id, ...query }, me))

  const follow = (slug: string, { ip = '192.0.2.1', userAgent = FIREFOX, ...request }: Visitor = {}) => {
    const page: PageRequest = {
      key: slug,
      query: '',
      language: 'en',
      isHead: false,
      isPrefetch: false,
      contentType: '',
      origin: '',
      referer: '',
      body: Buffer.alloc(0),
    }
    return links.followLink({ ...page, ...request }, { caller: { ...anonymousCaller(), ip, userAgent } })
  }
  const assertNotFound = ({ status, location, data }: PageResponse) => {
    assert.deepEqual([status, location], [404, undefined])
    assert.match(String(data), /Page not found/)
  }
  const counted = async (link: LinkJson, clicks: number): Promise<LinkJson> => {
    const end = Date.now() + scaledTimeout(10_000)
    for (;;) {
      const found = await get(link)
      if (found.clicks >= clicks) return found
      assert.ok(Date.now() < end, `counted ${found.clicks} of ${clicks} clicks`)
      await sleep(20)
    }
  }

  it('redirects to the stored URL, not to be cached', async () => {
    const { slug, url } = await create({ url: 'https://example.com/a?b=c#d' })
    const { status, location, cacheControl, data } = await follow(slug)
    assert.deepEqual([status, location, cacheControl, data.length], [302, url, 'private, max-age=0', 0])
  })

  it('answers a 404 page for unknown, inactive, expired and deleted links', async () => {
    assertNotFound(await follow('no-such-link'))
    assertNotFound(await follow('a'.repeat(5000)))
    const [inactive, deleted, expiring] = [await create({ active: false }), await create(), await create()]
    assertNotFound(await follow(inactive.slug))
    await links.deleteLink({ id: deleted.id }, me)
    assertNotFound(await follow(deleted.slug))
    assert.equal((await follow(expiring.slug)).status, 302)
    await content.db.collection('links').updateOne({ slug: expiring.slug }, { $set: { expiresAt: new Date() } })
    assertNotFound(await follow(expiring.slug))
  })

  it('leads where a change says at once', async () => {
    const { id, slug } = await create()
    await links.updateLink({ id, url: 'https://example.org/new' }, me)
    assert.equal((await follow(slug)).location, 'https://example.org/new')
    await links.updateLink({ id, active: false }, me)
    assertNotFound(await follow(slug))
    await links.updateLink({ id, active: true }, me)
    assert.equal((await follow(slug)).status, 302)
  })

  it('never leads anywhere but to the stored URL', async () => {
    const { slug, url } = await create({ url: 'https://example.com/only' })
    const near = fc.constantFrom(slug, slug.toUpperCase(), `${slug}/`, `/${slug}`, `${slug}%00`, `${slug}\n`)
    const request = fc.record({
      key: fc.oneof(near, fc.string(), fc.webUrl()),
      query: fc.oneof(
        fc.string(),
        fc.webUrl().map(target => `url=${target}&next=${target}`),
      ),
      referer: fc.oneof(fc.webUrl(), fc.string()),
      origin: fc.webUrl(),
    })
    const isSafe = async (visit: Visitor & { key: string }) => {
      const { location } = await follow(visit.key, visit)
      assert.equal(location, visit.key === slug ? url : undefined)
    }
    await fc.assert(fc.asyncProperty(request, isSafe), { numRuns: 100, seed: 1 })
  })

  it('counts clicks and the visitors of a day, by referrer and device', async () => {
    const link = await create()
    const from = { referer: 'https://news.example.com/today?q=1' }
    await follow(link.slug, from)
    await follow(link.slug, from)
    await follow(link.slug, { userAgent: PHONE })
    await follow(link.slug, { ip: '192.0.2.2', referer: 'no URL' })
    const { clicks, uniqueClicks, lastClickedAt } = await counted(link, 4)
    assert.deepEqual([clicks, uniqueClicks], [4, 3])
    assert.ok(Math.abs(Date.now() - Date.parse(lastClickedAt!)) < scaledTimeout(20_000))
    const { series, referrers, countries, devices } = await clicksOf(link)
    assert.equal(series.length, 30)
    assert.deepEqual([series.at(-1)?.clicks, series.at(-1)?.unique], [4, 3])
    assert.deepEqual(referrers, [
      { name: 'news.example.com', clicks: 2 },
      { name: null, clicks: 2 },
    ])
    assert.deepEqual(devices, [
      { name: 'desktop', clicks: 3 },
      { name: 'mobile', clicks: 1 },
    ])
    assert.deepEqual(countries, [])
    // Counted in later batches too, and a visitor once in all of them.
    await follow(link.slug, from)
    assert.equal((await counted(link, 5)).uniqueClicks, 3)
    assert.deepEqual((await clicksOf(link)).referrers[0], { name: 'news.example.com', clicks: 3 })
  })

  it('publishes link.clicked once for a visitor and day', async () => {
    const link = await create()
    for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) await follow(link.slug, { ip })
    await counted(link, 3)
    await follow(link.slug)
    await counted(link, 4)
    const events = (await content.eventsOf(link.id)).filter(({ type }) => type === 'link.clicked')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['link.clicked', 'link.clicked'],
    )
    const { linkId, slug, url, referrer, country, device } = events[0]!.data as Record<string, unknown>
    assert.deepEqual(
      [linkId, slug, url, referrer, country, device],
      [link.id, link.slug, link.url, null, null, 'desktop'],
    )
    assert.doesNotMatch(JSON.stringify(events), /192\.0\.2/)
  })

  it('counts no machine, no HEAD request and no prefetch', async () => {
    const link = await create()
    const late = `${FIREFOX} ${'x'.repeat(600)} ${GOOGLEBOT}`
    const unseen = [
      { userAgent: GOOGLEBOT },
      { userAgent: late },
      { userAgent: '' },
      { isHead: true },
      { isPrefetch: true },
    ]
    for (const visit of unseen) assert.equal((await follow(link.slug, visit)).status, 302)
    await follow(link.slug)
    assert.equal((await counted(link, 1)).clicks, 1)
  })

  it('stores no address', async () => {
    const link = await create()
    await follow(link.slug, { ip: '198.51.100.77' })
    await counted(link, 1)
    for (const { name } of await content.db.listCollections().toArray()) {
      const stored = await content.db.collection(name).find().toArray()
      assert.doesNotMatch(JSON.stringify(stored), /198\.51\.100\.77/, name)
    }
    const visitor = await content.db.collection('visitors').findOne({})
    assert.ok(visitor!.expiresAt.getTime() <= Date.now() + 2 * 86_400_000)
  })

  it('bounds the referrers of a day', async () => {
    const link = await create()
    const referers = Array.from({ length: 250 }, (_, index) => `https://site-${index}.example.com/`)
    await Promise.all(referers.map(referer => follow(link.slug, { referer })))
    await counted(link, 250)
    const [day] = await content.db
      .collection('clickdays')
      .find({ slug: undefined })
      .sort({ _id: -1 })
      .limit(1)
      .toArray()
    assert.equal(day!.referrers.length, 201)
    const { referrers } = await clicksOf(link)
    assert.deepEqual(referrers[0], { name: 'other', clicks: 50 })
    assert.equal(referrers.length, 50)
  })

  it('reports by interval and refuses periods that are too long or end before they begin', async () => {
    const link = await create()
    await follow(link.slug)
    await counted(link, 1)
    for (const interval of ['hour', 'week', 'month']) {
      const { series } = await clicksOf(link, { interval })
      assert.deepEqual([series.at(-1)?.clicks, series.reduce((sum, { clicks }) => sum + clicks, 0)], [1, 1], interval)
    }
    const past = { from: '2020-01-01T00:00:00Z', to: '2020-01-03T00:00:00Z' }
    const { series, devices } = await clicksOf(link, past)
    assert.deepEqual([series.map(({ clicks }) => clicks), devices], [[0, 0, 0], []])
    assert.equal(await refusalOf(clicksOf(link, { from: '2020-01-01T00:00:00Z' })), 'request.invalid_field from')
    assert.equal(
      await refusalOf(clicksOf(link, { to: '2020-01-01T00:00:00Z', from: '2021-01-01T00:00:00Z' })),
      'request.invalid_field to',
    )
    assert.equal(await refusalOf(jsonOf(links.getLinkClicks({ id: link.id }, testCaller()))), 'link.not_found')
  })

  it('deletes the clicks with the link', async () => {
    const link = await create()
    await follow(link.slug)
    await counted(link, 1)
    await links.deleteLink({ id: link.id }, me)
    const { _id } = (await content.db.collection('links').findOne({ slug: link.slug }))!
    assert.equal(await content.db.collection('clickdays').countDocuments({ link: _id }), 0)
    assert.equal(await content.db.collection('visitors').countDocuments({ link: _id }), 0)
  })
})
