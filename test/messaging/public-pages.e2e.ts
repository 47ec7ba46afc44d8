import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { bytesOfIds, createSignedTokens, parseKeyRing, type SignedTokens } from '@rollcall/credentials'
import fc from 'fast-check'
import { type Api, bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { counted, seed } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'

type Contact = { id: string; email: string; unsubscribed: boolean; updatedAt: string }
type Timeline = { docs: { type: string; actor: { name: string }; data: { how?: string; emailId?: string } }[] }

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const message = 'a'.repeat(24)

describe('public pages of mails', () => {
  let stack: TestStack
  let owner: Api
  let organizationId: string
  let tokens: SignedTokens
  before(async () => {
    stack = await startStack({ settings: manyAddresses })
    owner = stack.owner
    organizationId = (await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))).organization.id
    tokens = createSignedTokens(parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!), 'unsubscribe')
  })
  after(() => stack.stop())

  let number = 0
  const newContact = () =>
    bodyOf(owner.post<Contact>('/api/audience', { email: `reader-${number++}@example.com`, name: 'Reader' }), 201)
  const get = (id: string) => bodyOf(owner.get<Contact>(`/api/audience/${id}`))
  const tokenOf = (contactId: string) => tokens.sign(bytesOfIds(organizationId, contactId, message))
  /** Requests a page as another reader, without a credential. */
  const visit = (path: string, init: RequestInit = {}) =>
    fetch(stack.urls[0] + path, {
      redirect: 'manual',
      ...init,
      headers: { ...fromElsewhere(stack.api).headers, ...init.headers },
    })

  it('unsubscribe with one click, and subscribe again, without a cookie', async () => {
    const { id, email } = await newContact()
    const path = `/u/${tokenOf(id)}?utm_source=mail`
    const shown = await visit(path, { headers: { 'Accept-Language': 'de' } })
    assert.deepEqual([shown.status, shown.headers.get('set-cookie')], [200, null])
    assert.match(await shown.text(), new RegExp(`Einstellungen für <strong>r…@${email.split('@')[1]}`))
    assert.equal((await get(id)).unsubscribed, false)
    const out = await visit(path, { method: 'POST', headers: FORM, body: 'List-Unsubscribe=One-Click' })
    assert.equal(out.status, 200)
    assert.equal((await get(id)).unsubscribed, true)
    const [entry] = (await bodyOf(owner.get<Timeline>(`/api/audience/${id}/timeline`))).docs
    assert.deepEqual([entry?.actor.name, entry?.data.how, entry?.data.emailId], ['recipient', 'one_click', message])
    await visit(path, { method: 'POST', headers: FORM, body: 'action=resubscribe' })
    assert.equal((await get(id)).unsubscribed, false)
  })

  it('answer HEAD, and a page that there is none to other methods', async () => {
    const path = `/u/${tokenOf((await newContact()).id)}`
    assert.equal((await visit(path, { method: 'HEAD' })).status, 200)
    for (const method of ['PUT', 'DELETE']) assert.equal((await visit(path, { method })).status, 404)
  })

  it('refuse a form that is none of theirs', async () => {
    const path = `/u/${tokenOf((await newContact()).id)}`
    const refused = await visit(path, { method: 'POST', headers: FORM, body: 'action=delete' })
    assert.equal(refused.status, 400)
    assert.match(refused.headers.get('content-type') ?? '', /^text\/html/)
  })

  it('do nothing for forged, cut and exchanged tokens', async () => {
    const { id, updatedAt } = await newContact()
    const token = tokenOf(id)
    const foreign = createSignedTokens(
      new Map([['other', parseKeyRing(`k:${randomBytes(32).toString('base64')}`).get('k')!]]),
      'unsubscribe',
    )
    const otherwise = createSignedTokens(parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!), 'open')
    const ids = bytesOfIds(organizationId, id, message)
    const hostile = fc.oneof(
      fc.nat(token.length - 1).map(at => token.slice(0, at)),
      fc
        .tuple(fc.nat(token.length - 1), fc.constantFrom(...'abcXYZ019-_'))
        .map(([at, letter]) => token.slice(0, at) + letter + token.slice(at + 1)),
      fc.nat(token.length).map(at => `${token.slice(0, at)}A${token.slice(at)}`),
      fc.uint8Array({ minLength: 46, maxLength: 46 }).map(bytes => Buffer.from(bytes).toString('base64url')),
      fc.uint8Array({ minLength: 10, maxLength: 10 }).map(mac => Buffer.concat([mac, ids]).toString('base64url')),
      fc.constantFrom(foreign.sign(ids), otherwise.sign(ids)),
    )
    await fc.assert(
      fc.asyncProperty(
        hostile.filter(text => text !== token && text !== ''),
        async text => {
          const answer = await visit(`/u/${text}`, {
            method: 'POST',
            headers: FORM,
            body: 'List-Unsubscribe=One-Click',
          })
          assert.equal(answer.status, 404)
        },
      ),
      { seed, numRuns: counted(100, 10_000) },
    )
    const after = await get(id)
    assert.deepEqual([after.unsubscribed, after.updatedAt], [false, updatedAt])
  })

  it('lead to the URL of a counted link, and nowhere else', async () => {
    const clicks = createSignedTokens(parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!), 'click')
    const url = 'https://shop.example.com/a?b=%20c&d=1#e'
    const content = Buffer.concat([bytesOfIds(organizationId, message), Buffer.from(url)])
    const token = clicks.sign(content)
    const followed = await visit(`/t/c/${token}?fbclid=1`)
    assert.deepEqual([followed.status, followed.headers.get('location')], [302, url])
    assert.equal((await visit(`/t/c/${token}`, { method: 'HEAD' })).headers.get('location'), url)
    const bytes = Buffer.from(token, 'base64url')
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const altered = Buffer.from(bytes)
        altered[at]! ^= mask
        const answer = await visit(`/t/c/${altered.toString('base64url')}`)
        assert.deepEqual([answer.status, answer.headers.get('location')], [404, null])
      }),
      { seed, numRuns: counted(100, 10_000) },
    )
  })

  it('answer 503 while the audience is away', async () => {
    const path = `/u/${tokenOf((await newContact()).id)}`
    const [audience] = stack.instances('audience')
    await audience!.stop()
    try {
      const answer = await visit(path, { method: 'POST', headers: FORM, body: 'List-Unsubscribe=One-Click' })
      assert.equal(answer.status, 503)
      assert.match(await answer.text(), /Not available/)
    } finally {
      await audience!.start()
    }
  })
})
