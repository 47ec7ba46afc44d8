import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOfIds, createSignedTokens, parseKeyRing } from '@rollcall/credentials'
import { freePort } from '@rollcall/local'
import type { ContactJson } from '@rollcall/protos/gen/audience-v1.ts'
import type { CollectionJson, LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient } from 'mongodb'
import { bodyOf } from '../api.ts'
import { type Mailbox, openMailbox } from '../identity/mailbox.ts'
import { BOUNCE, COMPLAINT, returnMail } from '../messaging/returned-mail.ts'
import { addDefaultSender } from '../messaging/verified-domain.ts'
import { startStack, type TestStack } from '../stack.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('public pages of content', () => {
  let stack: TestStack
  let url: string
  let mailbox: Mailbox
  let bouncePort: number
  before(async () => {
    ;[mailbox, bouncePort] = await Promise.all([openMailbox(), freePort()])
    const settings = { ...mailbox.settings, BOUNCE_SMTP_PORT: String(bouncePort) }
    stack = await startStack({ processes: ['gateway', 'content'], settings })
    url = stack.urls[0]!
  })
  after(async () => {
    await stack?.stop()
    await mailbox?.remove()
  })

  const visit = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { redirect: 'manual', ...init, headers: { 'user-agent': FIREFOX, ...init.headers } })

  const linkOf = (id: string) => bodyOf(stack.owner.get<LinkJson>(`/api/links/${id}`))

  it('redirect short links, and count who follows them', async () => {
    const target = 'https://example.com/summer?a=b'
    const link = await bodyOf(stack.owner.post<LinkJson>('/api/links', { url: target, slug: 'summer' }), 201)
    const { status, headers } = await visit('/l/summer?utm_source=poster', {
      headers: { referer: 'https://a.example/' },
    })
    assert.deepEqual([status, headers.get('location')], [302, target])
    assert.deepEqual(
      [headers.get('cache-control'), headers.get('referrer-policy')],
      ['private, max-age=0', 'no-referrer'],
    )
    assert.equal(headers.get('ratelimit-limit'), '3000')
    assert.equal((await visit('/l/summer', { method: 'HEAD' })).headers.get('location'), target)
    const unknown = await visit('/l/unknown')
    assert.deepEqual([unknown.status, unknown.headers.get('cache-control')], [404, 'no-store'])
    assert.match(await unknown.text(), /Page not found/)
    await eventually('the click is counted', async () => (await linkOf(link.id)).clicks)
    const { referrers } = await bodyOf(stack.owner.get<{ referrers: object[] }>(`/api/links/${link.id}/clicks`))
    assert.deepEqual(referrers, [{ name: 'a.example', clicks: 1 }])
  })

  for (const service of ['gateway', 'content'] as const)
    it(`count every click but those of the last second before a kill -9 of ${service}`, async () => {
      const link = await bodyOf(stack.owner.post<LinkJson>('/api/links', { url: 'https://example.com/' }), 201)
      const clicksOf = async () => (await linkOf(link.id)).clicks
      const follow = async (times: number) => {
        for (let count = 0; count < times; count++) assert.equal((await visit(`/l/${link.slug}`)).status, 302)
      }
      await follow(20)
      await eventually('these are counted', async () => (await clicksOf()) === 20)
      await follow(5)
      const [instance] = stack.instances(service)
      await instance!.kill()
      await instance!.start()
      // Connections to a service that was killed take a moment to come back.
      await eventually('the link leads on', async () => (await visit(`/l/${link.slug}`)).status === 302)
      await follow(2)
      await eventually('those after it are counted', async () => (await clicksOf()) >= 23)
      await sleep(scaledTimeout(1000))
      assert.ok((await clicksOf()) <= 28, 'none counts twice')
    })

  it('show forms, and make contacts of what people submit', async () => {
    const list = await bodyOf(stack.owner.post<{ id: string }>('/api/audience-lists', { name: 'Readers' }), 201)
    const fields = [
      { slug: 'email', name: 'Email', type: 'email', required: true },
      { slug: 'name', name: 'Name', type: 'string' },
    ]
    const contact = { email: 'email', name: 'name', tags: ['form'], lists: [list.id] }
    const form = { title: 'Newsletter', contact }
    const body = { name: 'Readers', slug: 'readers', fields, form }
    const { id } = await bodyOf(stack.owner.post<CollectionJson>('/api/collections', body), 201)

    const page = await visit(`/f/${id}`, { headers: { 'accept-language': 'de' } })
    assert.deepEqual([page.status, page.headers.get('referrer-policy')], [200, 'same-origin'])
    assert.match(page.headers.get('content-security-policy')!, /form-action 'self'/)
    assert.match(await page.text(), /<h1>Newsletter<\/h1>[\s\S]*Absenden/)

    const submit = (values: Record<string, string>, headers: Record<string, string> = {}) =>
      visit(`/api/forms/${id}/submit`, { method: 'POST', body: new URLSearchParams(values), headers })
    const refused = await submit({ email: 'kim@example.com' }, { origin: 'https://evil.example' })
    assert.deepEqual([refused.status, refused.headers.get('x-error-code')], [403, 'form.origin_refused'])
    assert.equal((await submit({ email: 'kim@example.com', name: 'Kim' })).status, 201)
    const contacts = `/api/audience-lists/${list.id}/contacts`
    const found = await eventually('a contact is made', async () => {
      const { docs } = await bodyOf(stack.owner.get<{ docs: Record<string, unknown>[] }>(contacts))
      return docs[0]
    })
    assert.deepEqual([found.email, found.name, found.source, found.tags], ['kim@example.com', 'Kim', 'form', ['form']])
  })

  it('let scripts of the origins of a form submit it and read the answer, no others', async () => {
    const [shop, evil] = ['https://shop.example.com', 'https://evil.example']
    const fields = [{ slug: 'name', name: 'Name', type: 'string', required: true }]
    const form = { title: 'Order', allowedOrigins: [shop] }
    const body = { name: 'Orders', slug: 'orders', fields, form }
    const { id } = await bodyOf(stack.owner.post<CollectionJson>('/api/collections', body), 201)
    const path = `/api/forms/${id}/submit`
    const preflight = async (origin: string, at = path) => {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      }
      const answer = await visit(at, { method: 'OPTIONS', headers })
      assert.equal(answer.status, 204)
      return ['origin', 'methods', 'headers'].map(name => answer.headers.get(`access-control-allow-${name}`))
    }
    const submit = (origin: string, values: object) => {
      const headers = { origin, 'content-type': 'application/json' }
      return visit(path, { method: 'POST', body: JSON.stringify(values), headers })
    }
    const [named, methods, headers] = await preflight(shop)
    assert.equal(named, shop)
    assert.match(methods!, /POST/)
    assert.match(headers!, /Content-Type/)
    for (const [origin, at] of [
      [evil, path],
      [shop, `/api/forms/${'f'.repeat(24)}/submit`],
      [shop, '/api/audience'],
    ] as const)
      assert.deepEqual(await preflight(origin, at), [null, null, null])
    for (const [values, status] of [
      [{ name: 'Kim' }, 201],
      [{}, 400],
    ] as const) {
      const answer = await submit(shop, values)
      assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [status, shop])
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    }
    const refused = await submit(evil, { name: 'Kim' })
    assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, null])
  })

  describe('confirmed by a person whose mail came back', () => {
    let form: string
    before(async () => {
      await addDefaultSender(stack)
      const fields = [{ slug: 'email', name: 'Email', type: 'email' }]
      const contact = { email: 'email', doubleOptIn: true }
      const body = { name: 'News', slug: 'news', fields, form: { title: 'News', contact } }
      form = (await bodyOf(stack.owner.post<CollectionJson>('/api/collections', body), 201)).id
    })

    const docsOf = async <T>(path: string, filter: object) =>
      (await bodyOf(stack.owner.get<{ docs: T[] }>(path, { filter }))).docs
    const suppressionsOf = async (email: string) =>
      (await docsOf<{ kind: string }>('/api/emails/suppressions', { email })).map(({ kind }) => kind)

    /** Submits the form, and returns the path that the mail asks to open. */
    const signUp = async (email: string) => {
      const body = new URLSearchParams({ email })
      const mail = await mailbox.next(email, () => visit(`/api/forms/${form}/submit`, { method: 'POST', body }))
      return /\/c\/[\w-]+/.exec(mail)![0]
    }

    /** Returns the mail to an address to its sender, with a report. */
    const sendBack = async (to: string, report: string) => {
      const message = await eventually('the mail is sent', async () => {
        const [found] = await docsOf<{ id: string; status: string }>('/api/emails/messages', { to })
        return found?.status === 'sent' && found
      })
      const { organization } = await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))
      const keys = parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!)
      const tokens = createSignedTokens(keys, 'bounce', { encoding: 'base32' })
      const token = tokens.sign(bytesOfIds(organization.id, message.id))
      assert.equal(await returnMail(bouncePort, token, report), 250)
    }

    /** Waits until messaging has handled so many confirmations. */
    const handled = async (confirmations: number) => {
      await using client = new MongoClient(stack.backing.MONGODB_URL)
      const inbox = client.db(`${stack.namespace}rollcall_messaging`).collection<{ _id: string }>('inbox')
      const count = () => inbox.countDocuments({ _id: /^messaging\.on-contact-confirmed:/ })
      await eventually('messaging knows of the confirmation', async () => (await count()) === confirmations)
    }

    const statusOf = async (id: string) => {
      const { emailStatus, unsubscribed } = await bodyOf(stack.owner.get<ContactJson>(`/api/audience/${id}`))
      return `${emailStatus}, ${unsubscribed ? 'unsubscribed' : 'subscribed'}`
    }
    const become = (id: string, status: string) =>
      eventually(`the contact becomes ${status}`, async () => (await statusOf(id)) === status)

    it('keep the suppression of an address that does not exist', async () => {
      const email = 'gone@example.com'
      const { id } = await bodyOf(stack.owner.post<ContactJson>('/api/audience', { email }), 201)
      const link = await signUp(email)
      await sendBack(email, BOUNCE)
      await become(id, 'bounced, subscribed')
      assert.equal((await visit(link, { method: 'POST' })).status, 200)
      await handled(1)
      assert.deepEqual(await suppressionsOf(email), ['hard_bounce'])
      assert.equal(await statusOf(id), 'bounced, subscribed')
    })

    it('take back a complaint and the opt-out that it was', async () => {
      const email = 'angry@example.com'
      const { id } = await bodyOf(stack.owner.post<ContactJson>('/api/audience', { email }), 201)
      await signUp(email)
      await sendBack(email, COMPLAINT)
      await become(id, 'complained, unsubscribed')
      assert.deepEqual(await suppressionsOf(email), ['complaint'])
      const link = await signUp(email)
      assert.equal((await visit(link, { method: 'POST' })).status, 200)
      await handled(2)
      assert.deepEqual(await suppressionsOf(email), [])
      await become(id, 'ok, subscribed') // the second mail arrived
    })
  })

  it('refuse more than 20 submissions a minute from an address', async () => {
    const path = `/api/forms/${'f'.repeat(24)}/submit`
    const post = () => visit(path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    let answer = await post()
    assert.deepEqual([answer.status, answer.headers.get('x-error-code')], [404, 'form.not_found'])
    for (let tries = 0; answer.status === 404 && tries < 45; tries++) answer = await post()
    assert.deepEqual([answer.status, answer.headers.get('ratelimit-limit')], [429, '20'])
  })
})
