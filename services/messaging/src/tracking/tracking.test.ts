import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { PageRequest } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import { ERASED } from '@rollcall/service'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailings } from '../mailings/mailings.ts'
import { pages } from '../pages/pages.ts'
import { takeReport } from '../returns/apply-report.ts'
import type { Report } from '../returns/read-report.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const url = 'https://shop.example.com/a?b=%20c&d=1#e'

describe('opens and clicks', () => {
  let test: TestContext
  before(async () => {
    test = await testContext({ PUBLIC_URL: 'https://mail.example.com' })
  })
  after(() => test.stop())

  const tenant = () => test.context.collections.of(test.organizationId)
  const sentBefore = (ms: number) => ({ status: 'sent' as const, sentAt: new Date(Date.now() - ms) })
  let number = 0
  const newMail = (fields: Partial<Mail> = {}) => {
    const to = `reader-${number++}@example.com`
    const draft = { key: to, kind: 'campaign' as const, to, subject: 'S', from: 'a@example.com', messageId: '<1@a>' }
    return tenant().mails.insertOne({ ...draft, ...sentBefore(60_000), ...fields })
  }
  const stored = async ({ _id }: Mail) => (await tenant().mails.findOne({ _id }))!
  const typesOf = async ({ _id }: Mail) => (await test.eventsOf(String(_id))).map(({ type }) => type)
  const callOf = (userAgent: string): Call => {
    const call = test.call()
    return { ...call, caller: { ...call.caller, userAgent } }
  }
  const requestOf = (link: string, more: Partial<PageRequest> = {}): PageRequest => ({
    key: link.split('/').at(-1)!,
    query: '',
    language: 'en',
    isHead: false,
    isPrefetch: false,
    contentType: '',
    origin: '',
    referer: '',
    body: Buffer.alloc(0),
    ...more,
  })
  const open = (mail: Mail, more?: Partial<PageRequest>, userAgent = BROWSER, context: Context = test.context) =>
    pages(context).countOpen(requestOf(context.links.openUrl(mail), more), callOf(userAgent))
  const click = (mail: Mail, more?: Partial<PageRequest>, userAgent = BROWSER, context: Context = test.context) =>
    pages(context).followLink(requestOf(context.links.clickUrl(mail, url), more), callOf(userAgent))

  it('of an erased person are neither recorded nor published', async () => {
    const mail = await newMail({ to: ERASED })
    await open(mail)
    assert.equal((await click(mail)).location, url)
    assert.deepEqual([(await stored(mail)).status, (await stored(mail)).steps], ['sent', []])
    assert.deepEqual(await typesOf(mail), [])
    assert.deepEqual(await tenant().clicks.find({ message: mail._id }), [])
  })

  it('are counted each time, and published the first time', async () => {
    const campaign = new Types.ObjectId()
    await tenant().mailings.insertOne({ _id: campaign, sender: new Types.ObjectId(), subject: 'S' })
    const mail = await newMail({ campaign })
    for (let times = 0; times < 2; times++) {
      const { contentType, data } = await open(mail)
      assert.deepEqual([contentType, data.subarray(0, 6).toString()], ['image/gif', 'GIF89a'])
    }
    for (let times = 0; times < 3; times++) assert.equal((await click(mail)).location, url)
    const { opens, clicks, status, steps } = await stored(mail)
    assert.deepEqual([opens, clicks, status], [2, 3, 'clicked'])
    assert.deepEqual(
      steps.map(({ type, detail }) => [type, detail]),
      [
        ['opened', null],
        ['clicked', url],
      ],
    )
    assert.deepEqual(await typesOf(mail), ['email.opened', 'email.clicked'])
    assert.equal((await test.eventsOf(String(mail._id)))[1]?.data.url, url)
    const [link] = await tenant().clicks.find({ message: mail._id })
    assert.deepEqual([link?.url, link?.count], [url, 3])
    const counts = (await tenant().mailings.findOne({ _id: campaign }))?.counts
    assert.deepEqual([counts?.opened, counts?.clicked], [1, 1])
  })

  it('are counted by link for a campaign, the most clicked first', async () => {
    const campaign = new Types.ObjectId()
    await tenant().mailings.insertOne({ _id: campaign, sender: new Types.ObjectId(), subject: 'S' })
    const [one, other, unrelated] = [await newMail({ campaign }), await newMail({ campaign }), await newMail()]
    const rare = 'https://shop.example.com/rare'
    for (const mail of [one, one, other, unrelated]) await click(mail)
    await pages(test.context).followLink(requestOf(test.context.links.clickUrl(one, rare)), callOf(BROWSER))
    const { links } = await mailings(test.context).linksOf({ id: String(campaign) }, test.call())
    assert.deepEqual(links, [
      { url, clicks: 3, contacts: 2 },
      { url: rare, clicks: 1, contacts: 1 },
    ])
  })

  it('count a click as an open, too', async () => {
    const mail = await newMail()
    await click(mail)
    assert.deepEqual(await typesOf(mail), ['email.opened', 'email.clicked'])
  })

  it('of programs are not counted, and lead there nevertheless', async () => {
    const mail = await newMail()
    const scanner = 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)'
    for (const [more, userAgent] of [
      [{ isHead: true }, BROWSER],
      [{ isPrefetch: true }, BROWSER],
      [{}, scanner],
      [{}, 'curl/8.1'],
    ] as const) {
      await open(mail, more, userAgent)
      assert.equal((await click(mail, more, userAgent)).location, url)
    }
    const tooEarly = await newMail(sentBefore(-60_000)) // early, however slow the test is
    await click(tooEarly)
    for (const each of [mail, tooEarly]) {
      const { opens = 0, clicks = 0, status } = await stored(each)
      assert.deepEqual([opens, clicks, status], [0, 0, 'sent'])
      assert.deepEqual(await typesOf(each), [])
    }
    assert.equal((await stored(mail)).machineVisits, 8)
  })

  it('count images that mail services load when somebody reads', async () => {
    const mail = await newMail()
    const proxy = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'
    await open(mail, {}, proxy)
    assert.equal((await stored(mail)).opens, 1)
  })

  it('are answered although nothing can be counted', async () => {
    const mail = await newMail()
    const transaction = () => Promise.reject(new Error('the database is away'))
    const away = { ...test.context, store: { ...test.context.store, transaction } }
    assert.equal((await click(mail, {}, BROWSER, away)).location, url)
    assert.equal((await open(mail, {}, BROWSER, away)).contentType, 'image/gif')
    await tenant().mails.deleteOne({ _id: mail._id })
    assert.equal((await click(mail)).location, url)
  })

  it('answer a forged token with a page that there is none', async () => {
    const mail = await newMail()
    const handlers = pages(test.context)
    const link = test.context.links.clickUrl(mail, url)
    const other = Buffer.from(link.split('/').at(-1)!, 'base64url')
    other[other.length - 1]! ^= 1 // another URL with the same signature
    for (const key of [
      '',
      'nonsense',
      link.slice(0, -2),
      other.toString('base64url'),
      test.context.links.openUrl(mail),
    ])
      await assert.rejects(handlers.followLink(requestOf(key), callOf(BROWSER)), { code: 'page.not_found' })
    for (const key of ['x.gif', test.context.links.openUrl(mail).slice(0, -4), link])
      await assert.rejects(handlers.countOpen(requestOf(key), callOf(BROWSER)), { code: 'page.not_found' })
  })

  it('never move a status back, and never open again what has ended', async () => {
    const delivered: Report = { kind: 'delivered', detail: '250', isBadAddress: false }
    const report = ({ _id }: Mail, given: Report) =>
      takeReport(test.context, { organizationId: test.organizationId, messageId: String(_id) }, given)
    const mail = await newMail()
    await report(mail, { kind: 'bounced', detail: '550', isBadAddress: true })
    await open(mail)
    await report(mail, delivered)
    const { status, error, steps } = await stored(mail)
    assert.deepEqual([status, error, steps.length], ['bounced', '550', 3])
    assert.equal((await suppressionsOf(test.context, test.organizationId, [mail.to])).size, 1)
    const failed = await newMail({ status: 'failed' })
    await report(failed, delivered)
    assert.equal((await stored(failed)).status, 'failed')
    const queued = await newMail({ status: 'queued', sentAt: null })
    await assert.rejects(report(queued, delivered), { code: 'service.unavailable' })
  })
})
