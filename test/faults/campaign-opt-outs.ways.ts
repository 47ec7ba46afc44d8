import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { bytesOfIds, createSignedTokens, parseKeyRing } from '@rollcall/credentials'
import { eventually } from '@rollcall/testing/eventually'
import type { TestMailgun } from '@rollcall/testing/mailgun'
import { type MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { importFile } from '../import/import-job.ts'
import { COMPLAINT, returnMail } from '../messaging/returned-mail.ts'
import type { TestStack } from '../stack.ts'

/** A contact that is to get no mail from now on. */
export type Recipient = { id: string; email: string }
/** Changes a contact, or says that its address gets no mail; resolves with the answer to that. */
export type Change = (contact: Recipient) => Promise<unknown>

const SIGNING_KEY = 'signing key of the test'

/** Returns every way in which a contact ends the mail to itself, by name. */
export async function waysOut(
  stack: TestStack,
  mongo: MongoClient,
  { mailgun, bouncePort }: { mailgun: TestMailgun; bouncePort: number },
): Promise<[name: string, change: Change][]> {
  const api = () => fromElsewhere(stack.owner)
  const { organization } = await bodyOf(api().get<{ organization: { id: string } }>('/api/auth/me'))
  const keys = parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!)
  const unsubscribe = createSignedTokens(keys, 'unsubscribe')
  const bounces = createSignedTokens(keys, 'bounce', { encoding: 'base32' })
  const provider = { kind: 'mailgun', apiKey: mailgun.apiKey, webhookSigningKey: SIGNING_KEY }
  await bodyOf(api().put('/api/emails/provider', provider))
  const { webhookUrl } = await bodyOf(api().get<{ webhookUrl: string }>('/api/emails/provider'))

  /** Stores a message that the contact got before. */
  async function earlierMessage({ id, email: to }: Recipient): Promise<string> {
    const _id = new ObjectId()
    const at = new Date()
    await mongo
      .db(`${stack.namespace}rollcall_messaging`)
      .collection('mails')
      .insertOne({
        _id,
        organization: new ObjectId(organization.id),
        key: `earlier ${_id}`,
        kind: 'transactional',
        ...{ to, contact: id, user: null, from: 'a@example.org', messageId: `<${_id}@example.org>`, subject: 'S' },
        ...{ status: 'sent', sentAt: at, steps: [], createdAt: at, updatedAt: at, dueAt: null },
      })
    return String(_id)
  }

  async function isDone(started: Promise<{ jobId: string }>): Promise<void> {
    const { jobId } = await started
    await eventually(
      'the bulk job is completed',
      async () => {
        const { state } = await bodyOf(api().get<{ state: string }>(`/api/audience/bulk/${jobId}`))
        return state === 'completed'
      },
      { withinMs: 60_000, everyMs: 5 },
    )
  }

  async function report(contact: Recipient, event: 'complained' | 'failed' | 'unsubscribed'): Promise<void> {
    const id = await earlierMessage(contact)
    const [timestamp, token] = [String(Math.floor(Date.now() / 1000)), randomUUID()]
    const signature = createHmac('sha256', SIGNING_KEY).update(`${timestamp}${token}`).digest('hex')
    const message = { headers: { 'message-id': `${id}@example.org` } }
    const rejected = { severity: 'permanent', 'delivery-status': { code: 550, 'enhanced-code': '5.1.1' } }
    const reported = { event, message, ...(event === 'failed' && rejected) }
    const body = JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': reported })
    const headers = { ...fromElsewhere(stack.api).headers, 'content-type': 'application/json' }
    assert.equal((await fetch(webhookUrl, { method: 'POST', body, headers })).status, 200)
  }

  return [
    ['unsubscribed', ({ id }) => bodyOf(api().patch(`/api/audience/${id}`, { unsubscribed: true }))],
    ['blocked', ({ id }) => bodyOf(api().patch(`/api/audience/${id}/block`, { reason: 'asked' }))],
    ['deleted', ({ id }) => bodyOf(api().delete(`/api/audience/${id}`))],
    ['suppressed', ({ email }) => bodyOf(api().post('/api/emails/suppressions', { email }), 201)],
    [
      'bulk change',
      ({ id }) =>
        isDone(bodyOf(api().patch('/api/audience/bulk', { contactIds: [id], change: { unsubscribed: true } }))),
    ],
    ['bulk deletion', ({ id }) => isDone(bodyOf(api().delete('/api/audience/bulk', { contactIds: [id] })))],
    [
      'import',
      async ({ email }) => {
        const { result } = await importFile(api(), `email,name,unsubscribed\n${email},Reader,true`)
        assert.equal(result.updated, 1)
      },
    ],
    [
      'one click',
      async ({ id }) => {
        const token = unsubscribe.sign(bytesOfIds(organization.id, id, String(new ObjectId())))
        const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
        const { headers } = fromElsewhere(stack.api)
        assert.equal((await fetch(`${stack.urls[0]}/u/${token}`, { method: 'POST', body, headers })).status, 200)
      },
    ],
    ['complaint of the provider', contact => report(contact, 'complained')],
    ['bounce of the provider', contact => report(contact, 'failed')],
    ['opt-out of the provider', contact => report(contact, 'unsubscribed')],
    [
      'complaint by mail',
      async contact => {
        const token = bounces.sign(bytesOfIds(organization.id, await earlierMessage(contact)))
        // A busy server lets its sender come again.
        for (let docs: unknown[] = []; docs.length === 0; ) {
          assert.equal(await returnMail(bouncePort, token, COMPLAINT), 250)
          const filter = { email: contact.email }
          docs = (await bodyOf(api().get<{ docs: unknown[] }>('/api/emails/suppressions', { filter }))).docs
        }
      },
    ],
  ]
}
