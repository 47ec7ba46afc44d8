import type { EventScope, Subscription } from '@rollcall/bus'
import { isObjectId, type Received } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import type { User } from './user.model.ts'
import { type EmailStatus, emailStatuses, type UserEmail } from './user-email.model.ts'

type Email = Received<`email.${EmailStatus}`>

/**
 * Records the mails of users from events of the messaging service. Each event is processed once; events out of order
 * never move a status back. Ignores mails without a user of this organization.
 */
export function onEmailEvents({ collections }: Pick<Context, 'collections'>): Subscription<ClientSession> {
  const recordAs =
    (status: EmailStatus) =>
    (email: Email, { event, tx }: EventScope<ClientSession>) =>
      recordStatus(collections.of(event.organization), email, status, tx)
  return {
    name: 'identity.on-email-events',
    inboxName: 'on-email-events',
    // Those of a campaign go to contacts, and are many.
    ignores: ({ data }) => data.kind === 'campaign',
    on: {
      'email.queued': recordAs('queued'),
      'email.sent': recordAs('sent'),
      'email.failed': recordAs('failed'),
      'email.bounced': recordAs('bounced'),
    },
  }
}

async function recordStatus(tenant: Tenant, email: Email, status: EmailStatus, tx: ClientSession): Promise<void> {
  const { userEmails } = tenant
  const { emailId, subject, sender } = email
  const report = reportOf(email, status)
  const known = await userEmails.findOne({ emailId }, { tx })
  if (known) {
    await userEmails.updateOne({ _id: known._id }, { $set: progress(known, report) }, { tx })
    return
  }
  const user = await recipientOf(tenant, email, tx)
  if (!user) return
  // The user's deletion conflicts with this write, and deletes the mail or retries it.
  await tenant.users.updateOne({ _id: user._id }, { $inc: { mails: 1 } }, { tx, timestamps: false })
  const draft = { user: user._id, emailId, subject, sender, ...report }
  await userEmails.insertOne(draft, { tx })
}

type Report = Pick<UserEmail, 'status' | 'sentAt' | 'error' | 'queuedAt'>

function reportOf({ at, error }: Email, status: EmailStatus): Report {
  const time = new Date(at)
  return { status, sentAt: status === 'sent' ? time : null, error: error || null, queuedAt: time }
}

/** Merges two reports: the later status, all known details, and the earlier start. */
function progress(known: UserEmail, report: Report): Report {
  const isLater = emailStatuses.indexOf(report.status) > emailStatuses.indexOf(known.status)
  return {
    status: isLater ? report.status : known.status,
    sentAt: known.sentAt ?? report.sentAt,
    error: (isLater ? report.error : null) ?? known.error,
    queuedAt: new Date(Math.min(known.queuedAt.getTime(), report.queuedAt.getTime())),
  }
}

/** Returns the user that a mail names. The address alone is not enough: it may belong to a contact. */
async function recipientOf({ users }: Tenant, { userId }: Email, tx: ClientSession): Promise<User | null> {
  const isNamed = userId && isObjectId(userId)
  return isNamed ? users.findOne({ _id: userId }, { tx }) : null
}
