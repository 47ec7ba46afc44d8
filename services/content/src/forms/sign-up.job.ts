import { createHash } from 'node:crypto'
import { AppError, emailKeyOf } from '@rollcall/contract'
import { bytesOfIds } from '@rollcall/credentials'
import { type DueJob, defineJob } from '@rollcall/jobs'
import { isDuplicate, toStoreError, type Unscoped } from '@rollcall/store'
import type { Context } from '../context.ts'
import { confirmationMail } from './confirmation-mail.ts'
import type { SignUp } from './sign-up.model.ts'

const MAILS_PER_DAY = 3
const DAY_MS = 86_400_000
/** How long a mail waits for a default sender that can send, before it is tried again. */
const SENDER_MS = 600_000

/**
 * Makes contacts of sign-ups, each a record that was stored with its entry:
 *
 * 1. Claim a sign-up.
 * 2. If it needs a confirmation and has none, mail the link, at most three a day to an address. Then it waits.
 * 3. Otherwise apply it: the audience creates or updates the contact.
 *
 * Both effects are idempotent by the id of the sign-up, so a slice may run twice. A sign-up that the audience refuses is
 * not a failure of the job, nor is one that waits for a default sender: it is tried again until it expires.
 */
export function signUpJob(model: Unscoped<SignUp>, context: () => Context): DueJob {
  return defineJob<SignUp>({
    name: 'sign-ups',
    due: { model },
    concurrency: 20,
    concurrencyPerOrganization: 4,
    async run(signUp) {
      const { _id, organization, attempts, doubleOptIn, confirmedAt } = signUp
      const isOpen = doubleOptIn && confirmedAt === null
      const refused = await (isOpen ? mailLink(context(), signUp) : apply(context(), signUp)).catch(error =>
        refusalOf(context(), signUp, error),
      )
      const { signUps } = context().collections.of(organization)
      const change = { refusal: refused?.reason ?? null, ...(refused?.retryMs === undefined && { dueAt: null }) }
      await signUps.updateOne({ _id, attempts }, { $set: change })
      return refused?.retryMs ?? 'done'
    },
  })
}

/** Why a sign-up was not mailed or applied, and when that is tried again, if it is. */
type Refused = { reason: string; retryMs?: number }

async function apply({ signUps, self }: Context, signUp: SignUp): Promise<undefined> {
  const { _id, parent, entry, confirmedAt, ip, consent, createdAt, organization } = signUp
  const { email, name, tags, lists, form } = signUp
  const attributes = Object.entries(signUp.attributes).map(([slug, value]) => [slug, plain(value)])
  const request = {
    id: String(_id),
    email,
    name,
    attributes: Object.fromEntries(attributes),
    tags,
    lists,
    collectionId: String(parent),
    entryId: String(entry),
    form,
    at: createdAt.toISOString(),
    ...(confirmedAt && { confirmation: { at: confirmedAt.toISOString(), ip, text: consent } }),
  }
  await signUps.applySignUp(request, { caller: self(String(organization)) })
}

/** Mails the link, unless the address had enough mails today. Returns why it was not mailed. */
async function mailLink(context: Context, signUp: SignUp): Promise<Refused | undefined> {
  const { _id, organization, email, expiresAt } = signUp
  if (!(await takeMail(context, email, _id))) return { reason: 'too many mails to this address today' }
  const token = context.confirmations.sign(bytesOfIds(String(organization), String(_id)))
  const url = `${context.config.PUBLIC_URL.replace(/\/$/, '')}/c/${token}`
  const mail = {
    key: `sign-up ${_id}`,
    to: email,
    fromDefault: true,
    confirms: true,
    expiresAt: expiresAt.toISOString(),
  }
  await context.mail.sendMail(
    { ...mail, ...confirmationMail(signUp, url) },
    { caller: context.self(String(organization)) },
  )
  return undefined
}

/** Counts the mail of a sign-up once; false if its address had enough today. Stores a hash of the address only. */
async function takeMail({ collections, now }: Context, email: string, signUp: SignUp['_id']): Promise<boolean> {
  const day = new Date(now()).toISOString().slice(0, 10)
  const _id = createHash('sha256')
    .update(`${day} ${emailKeyOf(email)}`)
    .digest('base64url')
  const hasRoom = { [`signUps.${MAILS_PER_DAY - 1}`]: { $exists: false } }
  const filter = { _id, $or: [{ signUps: signUp }, hasRoom] }
  const update = { $addToSet: { signUps: signUp }, $setOnInsert: { expiresAt: new Date(now() + 2 * DAY_MS) } }
  try {
    await collections.unscoped.mailCounts.updateOne(filter, update, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false // there is one that reached the limit
    throw toStoreError(error)
  }
}

/** Logs and returns the refusal of a request that would be refused again at once; rethrows what may pass. */
function refusalOf({ logger }: Context, { _id, organization, parent }: SignUp, error: unknown): Refused {
  const isRefused = error instanceof AppError && error.status < 500 && error.status !== 429
  if (!isRefused) throw error
  const ids = { organizationId: organization, collectionId: parent, signUpId: _id }
  logger.warn({ ...ids, code: error.code }, 'sign-up of a form refused')
  return { reason: error.message, ...(error.code.startsWith('sender.') && { retryMs: SENDER_MS }) }
}

function plain(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value
}
