import assert from 'node:assert/strict'
import type { Mailing } from '@rollcall/protos/gen/messaging-v1.ts'
import { type Client, connect, serviceCaller } from '@rollcall/rpc'
import { pause, retry, within } from '@rollcall/runtime'
import { startMailServer } from '@rollcall/testing/mail-server'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { importFile } from '../import/import-job.ts'
import { startStack } from '../stack.ts'

/** Number of kills and recipients of a campaign. `isNaive`: what a kill interrupts is sent again. */
export type PlayOptions = { kills: number; recipients: number; seed: number; isNaive?: boolean }

/** What became of the recipients. */
export type Report = {
  kills: number
  recipients: number
  seconds: number
  /** Mails that the server accepted, and addresses that it accepted more than one for. */
  accepted: number
  twice: number
  /** Recipients that are reported as sent, and of those, addresses without a mail. */
  sent: number
  sentWithoutMail: number
  /** Recipients that are reported as unknown, and the most of them that one kill may leave. */
  unknown: number
  atMostUnknown: number
  /** Recipients of neither kind. */
  other: number
}

/** The product with a mail server of the test. */
export type World = {
  /** Sends a campaign, and kills and restarts messaging at random points of it. */
  play(options: PlayOptions): Promise<Report>
  [Symbol.asyncDispose](): Promise<void>
}

/** How long the server takes for a mail. */
const MAIL_MS = 40
/** Mails that the job has in hand at most: each may be unknown after a kill. */
const AT_HAND = 20
const LIMIT_MS = 60_000
const UNKNOWN = 'unknown whether it was handed over'

/** Formats a report as one line. */
export function summarize({ kills, recipients, seconds, accepted, twice, sent, unknown }: Report): string {
  return `${kills} kills, ${recipients} recipients in ${seconds.toFixed(0)} s: ${accepted} mails accepted, ${twice} addresses twice; ${sent} reported as sent, ${unknown} as unknown`
}

/** Returns why a report fails. */
export function violationsIn({ twice, sentWithoutMail, other, unknown, atMostUnknown }: Report): string[] {
  return [
    ...(twice > 0 ? [`${twice} addresses got the mail twice`] : []),
    ...(sentWithoutMail > 0 ? [`${sentWithoutMail} are reported as sent and got no mail`] : []),
    ...(other > 0 ? [`${other} are neither sent nor unknown`] : []),
    ...(unknown > atMostUnknown ? [`${unknown} are unknown, at most ${atMostUnknown} were at hand`] : []),
  ]
}

/** Starts the product, with a sender that can send. */
export async function startWorld(): Promise<World> {
  await using onFailure = new AsyncDisposableStack()
  const server = await startMailServer()
  onFailure.defer(() => server.stop())
  let inHand = 0
  let earlier = 0
  let killed: PromiseWithResolvers<void> | undefined
  let strike: { after: number; now(): void } | undefined
  server.refuse = async (_to, stage) => {
    if (stage !== 'DATA') return undefined
    inHand++
    await pause(MAIL_MS)
    inHand--
    // Others of the same burst are at hand and wait for the kill, so that nothing records this mail before.
    if (strike && inHand > 0 && server.mails.length >= strike.after) {
      setImmediate(strike.now)
      strike = undefined
      killed = Promise.withResolvers()
    } else await killed?.promise
    return undefined
  }
  const settings = { SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_PER_MINUTE: '0' }
  const stack = await startStack({ processes: ['messaging'], settings })
  onFailure.defer(() => stack.stop())
  const [messaging] = stack.instances('messaging')
  const connection = connect({ address: `127.0.0.1:${messaging!.port}`, trust: stack.trust('campaigns') })
  onFailure.defer(() => connection.close())
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  onFailure.defer(() => mongo.close())
  const me = await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))
  const organization = me.organization.id
  const database = mongo.db(`${stack.namespace}rollcall_messaging`)
  const mailings = connection.client('rollcall.messaging.v1.Mailings')
  const caller = { caller: serviceCaller('campaigns', organization) }
  const senderId = await storeSender()
  const all = onFailure.move()

  /** Stores a sender of a verified domain. */
  async function storeSender(): Promise<string> {
    const records = { sendingRecords: [], receivingRecords: [], recommendedRecords: [], dkimKeys: [] }
    const place = { organization: new ObjectId(organization), domain: 'example.org' }
    await database
      .collection('domains')
      .insertOne({ ...place, ...records, status: 'verified', verified: true, provider: 'self-hosted' })
    const email = 'news@example.org'
    const sender = { ...place, name: 'News', email, emailKey: email, delivery: 'hosted', active: true, isDefault: true }
    return String(
      (await database.collection('senders').insertOne({ ...sender, replyTo: null, sharedWith: [] })).insertedId,
    )
  }

  async function queue(id: string, count: number): Promise<string[]> {
    const addresses = Array.from({ length: count }, (_, index) => `${id}-${index}@example.com`)
    await importFile(stack.owner, ['email,name', ...addresses.map(address => `${address},Name`)].join('\n'))
    const contacts = await mongo
      .db(`${stack.namespace}rollcall_audience`)
      .collection('contacts')
      .find({ emailKey: { $in: addresses } })
      .toArray()
    assert.equal(contacts.length, count)
    const recipients = contacts.map(({ _id, email }) => ({ contactId: String(_id), email }))
    for (let from = 0; from < count; from += 1000)
      await mailings.queueRecipients({ mailingId: id, recipients: recipients.slice(from, from + 1000) }, caller)
    return addresses
  }

  async function play({ kills, recipients, seed, isNaive = false }: PlayOptions): Promise<Report> {
    const startedAt = performance.now()
    const id = String(new ObjectId())
    const content = { subject: 'News', html: '<p>{{ contact.email }} {{ unsubscribe_url }}</p>' }
    await mailings.putMailing({ id, senderId, ...content, campaignName: 'News', organizationName: 'One' }, caller)
    const addresses = new Set(await queue(id, recipients))
    const accepted = () => server.mails.filter(({ to }) => addresses.has(to))
    earlier = server.mails.length
    await mailings.closeMailing({ id }, caller)
    await mailings.setMailingState({ id, state: 'sending' }, caller)
    for (let kill = 1; kill <= kills; kill++) {
      // Somewhere in the next part, so that each kill finds mails at hand.
      const part = Math.floor(recipients / (kills + 2))
      await accepting(part * (kill - 1) + ((seed * 7919 + kill * 104_729) % part))
      await messaging!.kill()
      killed?.resolve()
      killed = undefined
      if (isNaive) await sendAgain(id)
      await messaging!.start()
    }
    await finished(mailings, id, caller)
    const mails = await database
      .collection('mails')
      .find({ campaign: new ObjectId(id) })
      .toArray()
    const got = Map.groupBy(accepted(), ({ to }) => to)
    const sent = mails.filter(({ status }) => status === 'sent')
    const unknown = mails.filter(({ status, error }) => status === 'failed' && String(error).startsWith(UNKNOWN))
    return {
      kills,
      recipients,
      seconds: (performance.now() - startedAt) / 1000,
      accepted: accepted().length,
      twice: [...got.values()].filter(({ length }) => length > 1).length,
      sent: sent.length,
      sentWithoutMail: sent.filter(({ to }) => !got.has(to)).length,
      unknown: unknown.length,
      atMostUnknown: kills * AT_HAND,
      other: recipients - sent.length - unknown.length,
    }
  }

  /** Resolves when the server has accepted so many more mails, the last one just now. */
  function accepting(count: number): Promise<void> {
    const struck = Promise.withResolvers<void>()
    const after = earlier + count
    strike = { after, now: struck.resolve }
    return within(scaledTimeout(LIMIT_MS), `${count} mails`, () => struck.promise)
  }

  /**
   * What a sender does that does not remember which mails it began to hand over. In a transaction, because SecantusDB can
   * hang where a plain `updateMany` meets one that the kill left open.
   */
  async function sendAgain(id: string): Promise<void> {
    const interrupted = { campaign: new ObjectId(id), status: 'queued' }
    const again = { $set: { status: 'waiting', nextTryAt: new Date(0) } }
    await mongo.withSession(session =>
      session.withTransaction(() => database.collection('mails').updateMany(interrupted, again, { session })),
    )
  }

  return { play, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function finished(
  mailings: Client<'rollcall.messaging.v1.Mailings'>,
  id: string,
  caller: { caller: ReturnType<typeof serviceCaller> },
): Promise<void> {
  let mailing: Mailing | undefined
  const end = Date.now() + scaledTimeout(LIMIT_MS)
  const isFinished = async () => {
    mailing = await retry(() => mailings.getMailing({ id }, caller), { deadline: end })
    return mailing.isFinished
  }
  while (!(await isFinished())) {
    assert.ok(Date.now() < end, `not finished: ${JSON.stringify(mailing)}`)
    await pause(50)
  }
}
