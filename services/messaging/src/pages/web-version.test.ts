import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { pages } from './pages.ts'

describe('the web version of a mail', () => {
  let test: TestContext
  const contact = String(new Types.ObjectId())
  before(async () => {
    test = await testContext({ PUBLIC_URL: 'https://mail.example.com' })
    test.contacts.set('reader@example.com', { id: contact, email: 'reader@example.com' })
  })
  after(() => test.stop())

  const newMailing = async (content: { html: string | null; text: string | null }) => {
    const { mailings } = test.context.collections.of(test.organizationId)
    const draft = { sender: new Types.ObjectId(), subject: 'News for {{ contact.email }}', campaignName: 'Autumn' }
    return (await mailings.insertOne({ ...draft, ...content }))._id
  }
  const show = (campaign: Types.ObjectId | null, reader: string | null = contact) => {
    const organization = new Types.ObjectId(test.organizationId)
    const link = test.context.links.webVersionUrl({
      _id: new Types.ObjectId(),
      organization,
      contact: reader,
      ...(campaign && { campaign }),
    })
    return showKey(link.split('/').at(-1)!)
  }
  const showKey = async (key: string) => {
    const request = {
      key,
      query: '',
      language: 'en' as const,
      isHead: false,
      isPrefetch: false,
      contentType: '',
      origin: '',
    }
    const { data, ...page } = await pages(test.context).showWebVersion(
      { ...request, referer: '', body: Buffer.alloc(0) },
      test.call(),
    )
    return { ...page, text: data.toString() }
  }

  it('is rendered for its contact, and can run nothing', async () => {
    const html =
      '<script>alert(1)</script><p>{{ campaign.name }} {{ contact.email }}</p><a href="{{ unsubscribe_url }}">out</a>'
    const { text, contentSecurityPolicy = '' } = await show(await newMailing({ html, text: null }))
    assert.match(text, /<p>Autumn reader@example\.com<\/p><a href="https:\/\/mail\.example\.com\/u\/[\w-]+">/)
    assert.match(contentSecurityPolicy, /^default-src 'none';/)
    assert.match(contentSecurityPolicy, /; sandbox (?!.*allow-scripts)/)
    assert.doesNotMatch(contentSecurityPolicy, /script-src|allow-same-origin|allow-forms/)
  })

  it('of a plain text is a page of it', async () => {
    const { text } = await show(await newMailing({ html: null, text: 'Hello <b>\n{{ contact.email }}' }))
    assert.match(
      text,
      /<h1>News for reader@example\.com<\/h1>\n<p class="text">Hello &lt;b&gt;\nreader@example\.com<\/p>/,
    )
  })

  it('shows a contact that is gone nothing of it', async () => {
    const campaign = await newMailing({ html: '<p>[{{ contact.email }}]</p>', text: null })
    assert.match((await show(campaign, String(new Types.ObjectId()))).text, /\[\]/)
  })

  it('is none of a test', async () => {
    assert.match((await show(null, null)).text, /This mail was a test/)
  })

  it('is none of a forged token, and of a mailing that is gone', async () => {
    await assert.rejects(show(new Types.ObjectId()), { code: 'page.not_found' })
    for (const key of ['', 'nonsense']) await assert.rejects(showKey(key), { code: 'page.not_found' })
  })
})
