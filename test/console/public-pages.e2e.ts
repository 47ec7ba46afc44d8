import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bytesOfIds, createSignedTokens, parseKeyRing, type SignedTokenPurpose } from '@rollcall/credentials'
import { eventually } from '@rollcall/testing/eventually'
import { MongoClient, ObjectId } from 'mongodb'
import type { Browser, Page } from 'playwright-core'
import { bodyOf } from '../api.ts'
import { type Mailbox, openMailbox } from '../identity/mailbox.ts'
import { addDefaultSender } from '../messaging/verified-domain.ts'
import { startStack, type TestStack } from '../stack.ts'
import { createPages, launchBrowser, openPage, type Pages, violationsOf } from './browser.ts'

type Made = { id: string }

const NONE = '0'.repeat(24)
const message = 'a'.repeat(24)
type Locale = 'en-GB' | 'de-DE'

const looks = [
  ['phone', 360, 'light'],
  ['desktop', 1280, 'dark'],
] as const

describe('the public pages', () => {
  let stack: TestStack
  let browser: Browser
  let pages: Record<Locale, Pages>
  let mailbox: Mailbox
  /** As people know it: forms are taken from pages of this origin. */
  let url: string
  let paths: { preferences: string; test: string; webVersion: string; form: string }
  before(async () => {
    mailbox = await openMailbox()
    ;[stack, browser] = await Promise.all([startStack({ settings: mailbox.settings }), launchBrowser()])
    url = stack.instances('gateway')[0]!.environment.PUBLIC_URL!
    paths = await makePaths()
    pages = {
      'en-GB': createPages(browser, url, { locale: 'en-GB' }),
      'de-DE': createPages(browser, url, { locale: 'de-DE' }),
    }
  })
  after(() => Promise.all([browser?.close(), stack?.stop(), mailbox?.remove()]))

  async function makePaths(): Promise<typeof paths> {
    const { owner } = stack
    const { organization } = await bodyOf(owner.get<{ organization: Made }>('/api/auth/me'))
    const contact = await bodyOf(owner.post<Made>('/api/audience', { email: 'reader@example.com', name: 'Ada' }), 201)
    const list = await bodyOf(owner.post<Made>('/api/audience-lists', { name: 'Monthly news' }), 201)
    await bodyOf(owner.post(`/api/audience-lists/${list.id}/contacts`, { emails: ['reader@example.com'] }))
    const fields = [
      { slug: 'email', name: 'Email', type: 'email', required: true },
      { slug: 'topic', name: 'Topic', type: 'enum', options: ['News', 'Offers'] },
      { slug: 'agreed', name: 'I agree', type: 'boolean' },
      { slug: 'about', name: 'About you', type: 'text' },
    ]
    const form = { enabled: true, title: 'Sign up', submitLabel: 'Send', allowedOrigins: [] }
    const collection = { name: 'Sign-ups', slug: 'sign-ups', fields, form }
    const { id: collectionId } = await bodyOf(owner.post<Made>('/api/collections', collection), 201)
    const campaign = await storeMailing(organization.id)
    const keys = parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!)
    const tokenOf = (purpose: SignedTokenPurpose, ...ids: string[]) =>
      createSignedTokens(keys, purpose).sign(bytesOfIds(organization.id, ...ids))
    return {
      preferences: `/u/${tokenOf('unsubscribe', contact.id, message)}`,
      test: `/v/${tokenOf('web-version', NONE, message, NONE)}`,
      webVersion: `/v/${tokenOf('web-version', contact.id, message, campaign)}`,
      form: `/f/${collectionId}`,
    }
  }

  /** Stores the sending side of a campaign in plain text, which is shown on a page of ours. */
  async function storeMailing(organizationId: string): Promise<string> {
    const _id = new ObjectId()
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    const mailing = { subject: 'News for {{ contact.name }}', text: 'Hello {{ contact.name }}', html: null }
    const names = { campaignName: 'News', organizationName: 'One', sender: new ObjectId() }
    await client
      .db(`${stack.namespace}rollcall_messaging`)
      .collection('mailings')
      .insertOne({ _id, organization: new ObjectId(organizationId), ...mailing, ...names, preheader: null })
    return String(_id)
  }

  /** Opens a page, and lets axe look at it and at what `act` makes of it. It must fit its window. */
  const visit = async (path: string, locale: Locale, act?: (page: Page) => Promise<unknown>) => {
    for (const [device, width, colorScheme] of looks) {
      const page = await pages[locale].take()
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const look = async (what: string) => {
        const where = `${what} in ${locale}, ${colorScheme}, on a ${device}`
        assert.deepEqual(await violationsOf(page, where), [])
        assert.equal(await page.getAttribute('html', 'lang'), locale.slice(0, 2), where)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, where)
      }
      await page.goto(path)
      await look(path)
      if (act) {
        await act(page)
        await look(`${path} afterwards`)
      }
      await pages[locale].takeBack()
    }
  }

  for (const locale of ['en-GB', 'de-DE'] as const) {
    const text = (english: string, german: string) => (locale === 'de-DE' ? german : english)

    it(`of preferences has nothing that axe finds, ${locale}`, () =>
      visit(paths.preferences, locale, async page => {
        await page.getByRole('checkbox', { name: 'Monthly news' }).waitFor()
        await page.getByRole('button', { name: text('Unsubscribe from everything', 'Von allem abmelden') }).click()
        await page.getByRole('status').waitFor()
        await page.getByRole('button', { name: text('Subscribe again', 'Wieder anmelden') }).click()
        await page.getByRole('status').waitFor()
      }))

    it(`of a mail’s web version has nothing that axe finds, ${locale}`, async () => {
      await visit(paths.webVersion, locale)
      await visit(paths.test, locale)
    })

    it(`of a form has nothing that axe finds, ${locale}`, () => visit(paths.form, locale))

    it(`that says that there is none has nothing that axe finds, ${locale}`, () => visit('/u/forged', locale))
  }

  it('sign up a person whose browser runs no scripts, once, with the proof', async () => {
    const { owner } = stack
    const email = 'kim@example.com'
    const consent = 'Send me the weekly news.'
    const { list, form } = await makeDoubleOptIn(consent)
    const { page, close } = await openPage(browser, url, { javaScriptEnabled: false })
    /** Fills in the form, and returns the link that the mail asks to open. */
    const join = async () => {
      await page.goto(`/f/${form}`)
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Name').fill('Kim')
      const mail = await mailbox.next(email, () => page.getByRole('button', { name: 'Join' }).click())
      await page.getByText('Thank you').waitFor()
      const link = /http:\/\/localhost:\d+\/c\/\S+/.exec(mail)?.[0]
      assert.ok(link, mail)
      return link
    }
    const confirm = async (link: string) => {
      await page.goto(link)
      await page.getByText(consent).waitFor()
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('Your address is confirmed.').waitFor()
    }
    const people = () => bodyOf(owner.get<{ docs: Made[] }>('/api/audience', { filter: { email } }))

    const link = await join()
    assert.deepEqual((await people()).docs, [])
    await visit(link, 'en-GB')
    assert.deepEqual((await people()).docs, [], 'opening the link confirms nothing')
    await confirm(link)
    const members = `/api/audience-lists/${list}/contacts`
    const contact = await eventually('the contact is on the list', async () => {
      const { docs } = await bodyOf(owner.get<{ docs: Made[] }>(members))
      return docs[0]
    })
    const timeline = await bodyOf(owner.get<{ docs: object[] }>(`/api/audience/${contact.id}/timeline`))
    const proofs = timeline.docs.map(entry => JSON.stringify(entry)).filter(text => text.includes(consent))
    assert.equal(proofs.length, 1)
    assert.match(proofs[0]!, /"ip":"127\.0\.0\.1"/)

    // The events of a contact arrive in order: what the first sign-up caused is there when the second has arrived.
    await confirm(await join())
    await close()
    const countOf = async (type: string) => {
      const filter = { type, 'subject.id': contact.id }
      return (await bodyOf(owner.get<{ totalDocs: number }>('/api/events', { filter }))).totalDocs
    }
    await eventually('both confirmations are known', async () => (await countOf('contact.confirmed')) === 2)
    assert.equal(await countOf('triggers.audience.added_to_list'), 1)
  })

  /** Makes a list, and a form whose people are on it once they have confirmed their address. */
  async function makeDoubleOptIn(consent: string): Promise<{ list: string; form: string }> {
    const { owner } = stack
    await addDefaultSender(stack)
    const { id: list } = await bodyOf(owner.post<Made>('/api/audience-lists', { name: 'Weekly news' }), 201)
    const fields = [
      { slug: 'email', name: 'Email', type: 'email', required: true },
      { slug: 'name', name: 'Name', type: 'string' },
    ]
    const contact = { email: 'email', name: 'name', lists: [list], doubleOptIn: true, consent }
    const form = { enabled: true, title: 'Weekly news', submitLabel: 'Join', contact }
    const collection = { name: 'Weekly', slug: 'weekly', fields, form }
    return { list, form: (await bodyOf(owner.post<Made>('/api/collections', collection), 201)).id }
  }
})
