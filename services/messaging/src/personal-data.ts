import { ERASED, ofAccounts, type Person, type PersonalDataOf } from '@rollcall/service'
import type { Filter } from '@rollcall/store'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import type { Mail } from './mail/mail.model.ts'
import { publicMessage } from './messages/public-message.ts'
import { eraseSuppressions } from './suppressions/suppress.ts'
import { publicSuppression } from './suppressions/suppression.model.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  domains: 'none',
  providers: 'none',
  senders: ofAccounts('addresses and names that mail is sent from'),
  oauthRequests: 'none',
  // Before the mails, which tell whose clicks they are.
  clicks: {
    holds: 'links that the recipients of messages opened',
    kept: '90 days after the last click',
    erase: eraseClicks,
  },
  mails: {
    holds: 'addresses of recipients, subjects and texts of messages, replies of mail servers',
    kept: '30 days after it is finished; texts until it is finished',
    shown: {
      section: 'messages',
      needs: 'emails.read',
      async *find(context, person) {
        for await (const mail of mailsTo(context, person)) yield publicMessage(mail)
      },
    },
    erase: eraseMails,
  },
  bouncedAddresses: {
    holds: 'addresses that rejected mail, of releases before suppressions',
    kept: 'until the next migration makes suppressions of them',
    erase: async ({ collections }, person) =>
      (await collections.of(person.organizationId).bouncedAddresses.deleteMany(ofAddress(person))).deletedCount,
  },
  suppressions: {
    holds: 'addresses that get no mail; after the erasure of a person, keyed hashes of theirs',
    kept: 'until it is lifted',
    shown: {
      section: 'suppressions',
      needs: 'email_suppressions.read',
      async *find({ collections }, person) {
        yield* (await collections.of(person.organizationId).suppressions.find(ofAddress(person))).map(publicSuppression)
      },
    },
    erase: (context, { organizationId, emailKeys }) => eraseSuppressions(context, organizationId, emailKeys),
  },
  providerReports: 'none',
  softBounces: {
    holds: 'addresses that deferred mail',
    kept: '14 days after the last deferral',
    erase: async ({ collections }, person) =>
      (await collections.of(person.organizationId).softBounces.deleteMany(ofAddress(person))).deletedCount,
  },
  mailings: 'none',
  holds: {
    holds: 'addresses and contacts whose mail is handed over',
    kept: 'a minute',
    erase: { kept: 'it ends before the erasure' },
  },
  sendingQuotas: 'none',
  usageWindows: 'none',
}

function ofAddress({ emailKeys }: Person): Filter {
  return { emailKey: { $in: emailKeys } }
}

/** Yields the organization's messages to a person: to the contact, or to one of the addresses. */
async function* mailsTo({ collections }: Context, person: Person): AsyncGenerator<Mail> {
  const { mails } = collections.of(person.organizationId)
  const toContact = mails.stream<Mail>([{ $match: { contact: person.contactId } }])
  for await (const mail of toContact) if (mail.kind !== 'account') yield mail
  const toAddress = mails.stream<Mail>([{ $match: { contact: null, ...person.mayBeNamedIn('to') } }])
  for await (const mail of toAddress) if (mail.kind !== 'account' && person.isNamedIn(mail.to)) yield mail
}

/**
 * Blanks the messages to a person. They stay in the counts of their campaigns. What waits is not sent: the job finds no
 * contact for it, and without a contact it is cancelled.
 */
async function eraseMails(context: Context, person: Person): Promise<number> {
  const { mails } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const mail of mailsTo(context, person)) {
    if (mail.to === ERASED) continue
    const { _id, contact, steps } = mail
    const blank = { to: ERASED, subject: ERASED, text: null, html: null, headers: null, error: null }
    const blankSteps = steps.map(step => ({ ...step, detail: null }))
    await mails.updateOne({ _id }, { $set: { ...blank, steps: blankSteps } }, { timestamps: false })
    const waits = { _id, status: { $in: ['scheduled', 'queued'] } }
    const cancelled = { status: 'cancelled', dueAt: null, finishedAt: new Date() }
    if (contact === null) await mails.updateOne(waits, { $set: cancelled, $inc: { attempts: 1 } })
    erased++
  }
  return erased
}

/** Blanks the links that name the person, in the clicks on messages to them. */
async function eraseClicks(context: Context, person: Person): Promise<number> {
  const { clicks } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const { _id: message } of mailsTo(context, person))
    for (const { _id, url } of await clicks.find({ message })) {
      if (!person.isNamedIn(url)) continue
      await clicks.updateOne({ _id }, { $set: { url: person.without(url) } }, { timestamps: false })
      erased++
    }
  return erased
}
