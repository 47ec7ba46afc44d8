import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { freePort } from '@rollcall/local'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { type MailSink, startMailSink } from '@rollcall/testing/mail-sink'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { manyAddresses } from '../every-route.ts'
import { addressOf, makeCampaign, unlimitedMail, untilSent } from '../messaging/campaign-world.ts'
import { counted, isSoak } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'
import { type Change, waysOut } from './campaign-opt-outs.ways.ts'

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

describe('a campaign whose contacts end their mail meanwhile, in every way', () => {
  let sink: MailSink
  let stack: TestStack
  let mongo: MongoClient
  let mailgun: TestMailgun
  let ways: Awaited<ReturnType<typeof waysOut>>
  /** When the mail server heard of each address. */
  const asked = new Map<string, number>()
  before(async () => {
    sink = await startMailSink({
      onRecipient: to => void asked.set(to, performance.now()),
      onMail: () => pause(MAIL_MS),
    })
    mailgun = await startTestMailgun()
    const bouncePort = await freePort()
    const settings = {
      ...unlimitedMail,
      ...manyAddresses,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      MAILGUN_US_URL: mailgun.url,
      BOUNCE_SMTP_PORT: String(bouncePort),
    }
    stack = await startStack({ settings })
    mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
    ways = await waysOut(stack, mongo, { mailgun, bouncePort })
  })
  after(async () => {
    await mongo?.close()
    await stack?.stop()
    await mailgun?.stop()
    await sink?.stop()
  })

  /** Sends a campaign while contacts are changed. Returns how many were changed in time, and got the mail afterwards. */
  async function play(
    name: string,
    count: number,
    size: number,
    wayOf: (index: number) => [name: string, change: Change],
  ) {
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
    const wayByEmail = new Map<string, string>()
    const perChange = Math.max(1, Math.floor((size - AHEAD.at(-1)!) / count))
    const work = async (from: number) => {
      for (let index = from; index < count; index += AHEAD.length) {
        const number = index * perChange
        await eventually(`${number} mails`, () => asked.size >= number || undefined, { withinMs: 60_000, everyMs: 2 })
        const email = addressOf(number + AHEAD[from]!, name)
        const [way, change] = wayOf(index)
        wayByEmail.set(email, way)
        await change({ id: idOf.get(email)!, email })
        answeredAt.set(email, performance.now())
      }
    }
    await Promise.all(AHEAD.map((_, from) => work(from)))
    await untilSent(stack, id)
    const late = [...answeredAt].filter(([email, at]) => (asked.get(email) ?? 0) > at)
    const stopped = [...answeredAt].filter(([email]) => !asked.has(email))
    return { changed: answeredAt.size, stopped: stopped.length, late: late.map(([email]) => wayByEmail.get(email)) }
  }

  test('hands none over after the change was answered', { timeout }, async t => {
    const { changed, stopped, late } = await play('careful', changes, recipients, index => ways[index % ways.length]!)
    t.diagnostic(
      `M3  ${changed} changes, ${stopped} in time to stop the mail: ${late.length} handed over after the answer`,
    )
    assert.deepEqual(late, [])
    assert.ok(stopped > 0)
  })

  test('hands some over where a change does not wait for what is under way', { timeout }, async t => {
    const naive: Change = async ({ id }) => {
      const contacts = mongo.db(`${stack.namespace}rollcall_audience`).collection('contacts')
      await contacts.updateOne({ _id: new ObjectId(id) }, { $set: { blocked: true } })
    }
    for (let round = 1, late = 0; late === 0; round++) {
      assert.ok(round <= MAX_NAIVE_ROUNDS, 'no mail was late in any round')
      const played = await play(`naive${round}`, 20, 250, () => ['naive', naive])
      t.diagnostic(`${played.changed} changes, ${played.late.length} handed over after them`)
      late = played.late.length
    }
  })
})
