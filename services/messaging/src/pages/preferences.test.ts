import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { ChangePreferencesRequest, Preferences } from '@rollcall/protos/gen/audience-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Event } from '@rollcall/runtime'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
import { seriesOf } from '../mailings/recipients.ts'
import { onContactConfirmed } from '../suppressions/on-contact-confirmed.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'
import { pages } from './pages.ts'

const contactId = 'c'.repeat(24)
const FORM = 'application/x-www-form-urlencoded'

describe('the page of preferences', () => {
  let test: TestContext
  let context: Context
  let preferences: Preferences | undefined
  const changes: ChangePreferencesRequest[] = []
  before(async () => {
    test = await testContext({ PUBLIC_URL: 'https://mail.example.com/' })
    context = {
      ...test.context,
      getPreferences: async () => preferences,
      changePreferences: async (_organization, change) => {
        changes.push(change)
        if (preferences && change.unsubscribed !== undefined) preferences.unsubscribed = change.unsubscribed
        if (preferences) preferences.lists = preferences.lists.filter(({ id }) => !change.leave.includes(id))
        return preferences
      },
    }
  })
  after(() => test.stop())
  beforeEach(() => {
    changes.length = 0
    preferences = {
      email: 'alex@example.com',
      unsubscribed: false,
      lists: [
        { id: '1'.repeat(24), name: 'News <b>' },
        { id: '2'.repeat(24), name: 'Offers' },
      ],
    }
  })

  const tenant = () => test.context.collections.of(test.organizationId)
  const urlOf = (messageId: string, contact: string | null = contactId) => {
    const [organization, _id] = [test.organizationId, messageId].map(id => new Types.ObjectId(id)) as [
      Types.ObjectId,
      Types.ObjectId,
    ]
    return context.links.unsubscribeUrl({ organization, contact, _id })
  }
  const keyOf = (url: string) => url.split('/').at(-1)!
  const newMail = async (to: string) => {
    const draft = {
      key: to,
      kind: 'transactional' as const,
      to,
      subject: 'S',
      from: 'a@example.com',
      messageId: '<1@a>',
    }
    return String((await tenant().mails.insertOne(draft))._id)
  }
  const request = (key: string, more: Partial<PageRequest> = {}): PageRequest => ({
    key,
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
  const textOf = ({ data }: PageResponse) => data.toString()
  const show = async (key: string, more: Partial<PageRequest> = {}) =>
    textOf(await pages(context).showPreferences(request(key, more), test.call()))
  const submit = async (key: string, body: string, contentType = FORM) =>
    textOf(await pages(context).choosePreferences(request(key, { body: Buffer.from(body), contentType }), test.call()))
  const message = String(new Types.ObjectId())

  it('is at PUBLIC_URL, and changes nothing when it is shown', async () => {
    const url = urlOf(message)
    assert.match(url, /^https:\/\/mail\.example\.com\/u\/[\w-]+$/)
    const page = await show(keyOf(url))
    assert.match(page, /<strong>a…@example\.com<\/strong>/)
    assert.doesNotMatch(page, /alex@/)
    assert.match(page, /<label><input type="checkbox" name="list" value="1{24}" checked> News &lt;b&gt;<\/label>/)
    assert.match(page, /<button name="action" value="unsubscribe">Unsubscribe from everything<\/button>/)
    assert.deepEqual(changes, [])
  })

  it('speaks German', async () => {
    const page = await show(keyOf(urlOf(message)), { language: 'de' })
    assert.match(page, /<html lang="de">[\s\S]*Von allem abmelden/)
  })

  it('unsubscribes with one click in the mail program, in both encodings', async () => {
    const part = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    for (const [body, type] of [
      ['List-Unsubscribe=One-Click', FORM],
      [part, 'multipart/form-data; boundary=x'],
    ] as const) {
      assert.match(await submit(keyOf(urlOf(message)), body, type), /role="status">You are unsubscribed\./)
      const change = { contactId, how: 'one_click', emailId: message, unsubscribed: true, leave: [], rejoin: [] }
      assert.deepEqual(changes.pop(), change)
    }
  })

  it('unsubscribes by its button, and undoes that', async () => {
    const key = keyOf(urlOf(message))
    assert.match(await submit(key, 'action=unsubscribe'), /value="resubscribe">Subscribe again/)
    assert.match(await submit(key, 'action=resubscribe'), /You are subscribed again[\s\S]*value="unsubscribe"/)
    assert.deepEqual(
      changes.map(({ how, unsubscribed }) => [how, unsubscribed]),
      [
        ['link', true],
        ['link', false],
      ],
    )
  })

  it('leaves the lists whose boxes were cleared, and undoes that', async () => {
    const key = keyOf(urlOf(message))
    const [news, offers] = ['1'.repeat(24), '2'.repeat(24)]
    const page = await submit(key, `action=save&shown=${news}&shown=${offers}&list=${offers}`)
    assert.deepEqual(
      changes.map(({ how, leave, unsubscribed }) => [how, leave, unsubscribed]),
      [['preference', [news], undefined]],
    )
    assert.match(page, /You have left: News &lt;b&gt;/)
    assert.match(page, new RegExp(`<input type="hidden" name="list" value="${news}">`))
    await submit(key, `action=rejoin&list=${news}`)
    assert.deepEqual(changes.at(-1)?.rejoin, [news])
  })

  it('leaves no list that the person has not seen', async () => {
    const key = keyOf(urlOf(message))
    const shown = [...(await show(key)).matchAll(/name="shown" value="(\w+)"/g)].map(([, id]) => `&shown=${id}`)
    preferences!.lists.push({ id: '3'.repeat(24), name: 'Imported since' })
    const page = await submit(key, `action=save${shown.join('')}&list=${'1'.repeat(24)}`)
    assert.deepEqual(changes.at(-1)!.leave, ['2'.repeat(24)])
    assert.match(page, /You have left: Offers</)
    assert.match(page, /value="3{24}" checked> Imported since/)
  })

  it('takes back a complaint where its author subscribes again, but no bounce', async () => {
    const { suppressions } = tenant()
    const at = new Date()
    for (const kind of ['complaint', 'hard_bounce'] as const) {
      const email = `${kind}@example.com`
      await suppressions.insertOne({ email, emailKey: email, kind, firstAt: at, lastAt: at })
      preferences!.email = email
      await submit(keyOf(urlOf(message)), 'action=resubscribe')
    }
    const left = await suppressionsOf(test.context, test.organizationId, [
      'complaint@example.com',
      'hard_bounce@example.com',
    ])
    assert.deepEqual([...left.keys()], ['hard_bounce@example.com'])
  })

  it('is not needed by who confirms to subscribe again in a form: that takes back a complaint, but no bounce', async () => {
    const { suppressions } = tenant()
    const at = new Date()
    const confirmed = onContactConfirmed(test.context).on['contact.confirmed']!
    for (const kind of ['complaint', 'hard_bounce'] as const) {
      const email = `Form-${kind}@example.com`
      await suppressions.insertOne({ email, emailKey: email.toLowerCase(), kind, firstAt: at, lastAt: at })
      const event = { organization: test.organizationId } as Event
      await test.context.store.transaction(tx =>
        confirmed({ email, at: at.toISOString() } as never, { event, tx } as never),
      )
    }
    const left = await suppressionsOf(test.context, test.organizationId, [
      'form-complaint@example.com',
      'form-hard_bounce@example.com',
    ])
    assert.deepEqual([...left.keys()], ['form-hard_bounce@example.com'])
  })

  it('counts once that the recipient of a campaign unsubscribed', async () => {
    const campaign = new Types.ObjectId()
    const { mails, mailings } = tenant()
    await mailings.insertOne({ _id: campaign, sender: new Types.ObjectId(), subject: 'S' })
    const id = await newMail('alex@example.com')
    const reachedAt = new Date(0)
    await mails.updateOne({ _id: id }, { $set: { campaign, updatedAt: reachedAt } }, { timestamps: false })
    for (let times = 0; times < 2; times++) await submit(keyOf(urlOf(id)), 'List-Unsubscribe=One-Click')
    assert.equal((await mailings.findOne({ _id: campaign }))?.counts.unsubscribed, 1)
    assert.deepEqual((await mails.findOne({ _id: id }))?.updatedAt, reachedAt)
    const { points } = await seriesOf(test.context, { id: String(campaign), interval: 'day' }, test.organizationId)
    assert.deepEqual(
      points.map(({ sent, unsubscribed }) => [sent, unsubscribed]),
      [[0, 1]],
    )
  })

  it('suppresses the address of a contact that is gone, and undoes that', async () => {
    preferences = undefined
    const to = 'gone@example.com'
    const key = keyOf(urlOf(await newMail(to)))
    const kindsOf = async () =>
      [...(await suppressionsOf(test.context, test.organizationId, [to])).values()].map(({ kind }) => kind)
    assert.match(await show(key), /g…@example\.com/)
    assert.deepEqual(await kindsOf(), [])
    for (let times = 0; times < 2; times++) await submit(key, 'List-Unsubscribe=One-Click')
    assert.deepEqual(await kindsOf(), ['manual'])
    assert.match(await show(key), /You get no newsletters/)
    assert.match(await submit(key, 'action=resubscribe'), /You are subscribed again/)
    assert.deepEqual(await kindsOf(), [])
    assert.equal(changes.length, 0)
  })

  it('works although contact and message are gone', async () => {
    preferences = undefined
    const page = await submit(keyOf(urlOf(message)), 'List-Unsubscribe=One-Click')
    assert.match(page, /You are unsubscribed/)
    assert.doesNotMatch(page, /@|<form/)
  })

  it('of a test mail has nothing to unsubscribe from', async () => {
    const key = keyOf(urlOf(message, null))
    assert.match(await show(key), /This mail was a test/)
    assert.match(await submit(key, 'List-Unsubscribe=One-Click'), /This mail was a test/)
    assert.equal(changes.length, 0)
  })

  it('refuses what is no form of it, and changes nothing', async () => {
    const key = keyOf(urlOf(message))
    for (const [body, type] of [
      ['', ''],
      ['{}', 'application/json'],
      ['', FORM],
      ['action=delete', FORM],
      ['List-Unsubscribe=Two', FORM],
    ] as const)
      await assert.rejects(submit(key, body, type), { code: 'request.malformed_form' })
    assert.equal(changes.length, 0)
  })

  it('is none of a forged token', async () => {
    const key = keyOf(urlOf(message))
    const forged = [
      '',
      'nonsense',
      key.slice(1),
      key.slice(0, -1),
      `${key}A`,
      key.toUpperCase(),
      Buffer.alloc(46).toString('base64url'),
    ]
    for (const token of forged) {
      await assert.rejects(show(token), { code: 'page.not_found' })
      await assert.rejects(submit(token, 'List-Unsubscribe=One-Click'), { code: 'page.not_found' })
    }
    assert.equal(changes.length, 0)
  })
})
