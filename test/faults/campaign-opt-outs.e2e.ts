import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { type MailSink, startMailSink } from '@rollcall/testing/mail-sink'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { addressOf, makeCampaign, unlimitedMail, untilSent } from '../messaging/campaign-world.ts'
import { counted, isSoak } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'

/** M3 of the goals: changes of contacts that are about to get the mail. */
const changes = counted(40, 2_000)
const recipients = isSoak ? 20_000 : 400
const timeout = scaledTimeout(isSoak ? 3_600_000 : 120_000)
/** How long the mail server takes for a mail: contacts are changed while theirs waits. */
const MAIL_MS = 15
/** Mails between the last one and the contact that is changed. */
const AHEAD = [5, 10, 20, 40, 80]
/** A round of the naive variant may be lucky, on a busy machine. */
const MAX_NAIVE_ROUNDS = 5

describe('a campaign whose contacts are blocked, unsubscribed, deleted and suppressed meanwhile', () => {
  let sink: MailSink
  let stack: TestStack
  let mongo: MongoClient
  /** When the mail server heard of each address. */
  const asked = new Map<string, number>()
  before(async () => {
    sink = await startMailSink({
      onRecipient: to => void asked.set(to, performance.now()),
      onMail: () => pause(MAIL_MS),
    })
    const settings = { ...unlimitedMail, ...manyAddresses, SMTP_URL: `smtp://127.0.0.1:${sink.port}` }
    stack = await startStack({ settings })
    mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  })
  after(async () => {
    await mongo?.close()
    await stack?.stop()
    await sink?.stop()
  })

  type Change = (contact: { id: string; email: string }) => Promise<unknown>
  const api = () => fromElsewhere(stack.owner)
  const ways: Change[] = [
    ({ id }) => bodyOf(api().patch(`/api/audience/${id}`, { unsubscribed: true })),
    ({ id }) => bodyOf(api().patch(`/api/audience/${id}/block`, { reason: 'asked' })),
    ({ id }) => bodyOf(api().delete(`/api/audience/${id}`)),
    ({ email }) => bodyOf(api().post('/api/emails/suppressions', { email }), 201),
  ]

  /** Sends a campaign while contacts are changed. Returns how many were changed in time, and got the mail afterwards. */
  async function play(name: string, count: number, size: number, wayOf: (index: number) => Change) {
    asked.clear()
    const id = await makeCampaign(stack, size, name)
    const contacts = await mongo
      .db(`${stack.namespace}rollcall_audience`)
      .collection('contacts')
      .find({ blocked: false }, { projection: { email: 1 } })
      .toArray()
    const idOf = new Map(contacts.map(({ _id, email }) => [email as string, String(_id)]))
    await bodyOf(stack.owner.post(`/api/emails/campaigns/${id}/start`))
    const answeredAt = new Map<string, number>()
    const perChange = Math.max(1, Math.floor((size - AHEAD.at(-1)!) / count))
    const work = async (from: number) => {
      for (let index = from; index < count; index += AHEAD.length) {
        const number = index * perChange
        await eventually(`${number} mails`, () => asked.size >= number || undefined, { withinMs: 60_000, everyMs: 2 })
        const email = addressOf(number + AHEAD[from]!, name)
        await wayOf(index)({ id: idOf.get(email)!, email })
        answeredAt.set(email, performance.now())
      }
    }
    await Promise.all(AHEAD.map((_, from) => work(from)))
    await untilSent(stack, id)
    const late = [...answeredAt].filter(([email, at]) => (asked.get(email) ?? 0) > at)
    const stopped = [...answeredAt].filter(([email]) => !asked.has(email))
    return { changed: answeredAt.size, stopped: stopped.length, late: late.length }
  }

  test('hands none over after the change was answered', { timeout }, async t => {
    const { changed, stopped, late } = await play('careful', changes, recipients, index => ways[index % ways.length]!)
    t.diagnostic(`M3  ${changed} changes, ${stopped} in time to stop the mail: ${late} handed over after the answer`)
    assert.equal(late, 0)
    assert.ok(stopped > 0)
  })

  test('hands some over where a change does not wait for what is under way', { timeout }, async t => {
    const naive: Change = async ({ id }) => {
      const contacts = mongo.db(`${stack.namespace}rollcall_audience`).collection('contacts')
      await contacts.updateOne({ _id: new ObjectId(id) }, { $set: { blocked: true } })
    }
    for (let round = 1, late = 0; late === 0; round++) {
      assert.ok(round <= MAX_NAIVE_ROUNDS, 'no mail was late in any round')
      const played = await play(`naive${round}`, 40, 400, () => naive)
      t.diagnostic(`${played.changed} changes, ${played.late} handed over after them`)
      late = played.late
    }
  })
})
