import type { Person, PersonalDataOf } from '@rollcall/service'
import type { ClientSession, Types } from 'mongoose'
import type { Collection } from './collections/collection.model.ts'
import { queueOf } from './collections/collections.ts'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'
import { type Entry, publicEntry } from './entries/entry.model.ts'
import type { SignUp } from './forms/sign-up.model.ts'

/** What the collections hold of contacts. */
export const personalData: PersonalDataOf<Collections, Context> = {
  links: 'none',
  clickDays: 'none',
  visitors: {
    holds: 'hashes of the network addresses of visitors, with a salt that is deleted',
    kept: '2 days',
    erase: { kept: 'nobody can be found by them' },
  },
  salts: 'none',
  collections: 'none',
  deletions: 'none',
  // First, so that no sign-up makes a contact of an entry that is erased.
  signUps: {
    holds: 'addresses, names and attributes in submitted forms, network addresses of confirmations',
    kept: '7 days',
    shown: { section: 'signUps', needs: 'collections.read', find: shownSignUps },
    erase: eraseSignUps,
  },
  entries: {
    holds: 'what people entered in forms',
    kept: 'until it is deleted',
    shown: {
      section: 'entries',
      needs: 'collections.read',
      async *find(context, person) {
        for await (const { entry } of entriesOf(context, person)) yield publicEntry(entry)
      },
    },
    erase: eraseEntries,
  },
  uniqueValues: {
    holds: 'values of unique fields of entries',
    kept: 'until the entry is deleted',
    erase: { kept: 'they are deleted with their entry' },
  },
  mailCounts: {
    holds: 'hashes of a day and an address that got mails of forms',
    kept: '2 days',
    erase: { kept: 'it stops mails that others request' },
  },
}

async function* signUpsOf({ collections }: Context, person: Person): AsyncGenerator<SignUp> {
  const { signUps } = collections.of(person.organizationId)
  for await (const signUp of signUps.stream<SignUp>([{ $match: person.mayBeNamedIn('email') }]))
    if (person.isNamedIn(signUp.email)) yield signUp
}

async function* shownSignUps(context: Context, person: Person): AsyncGenerator<object> {
  for await (const { form, email, name, attributes, consent, confirmedAt, ip, createdAt } of signUpsOf(context, person))
    yield { form, email, name, attributes, consent, confirmedAt, ip, createdAt }
}

async function eraseSignUps(context: Context, person: Person): Promise<number> {
  const { signUps } = context.collections.of(person.organizationId)
  let erased = 0
  for await (const { _id } of signUpsOf(context, person)) erased += (await signUps.deleteOne({ _id })).deletedCount
  return erased
}

type Found = { collection: Collection; entry: Entry }

/** Yields the entries of a person: those with one of the addresses in a field. */
async function* entriesOf({ collections }: Context, person: Person): AsyncGenerator<Found> {
  const tenant = collections.of(person.organizationId)
  for (const collection of await tenant.collections.find({})) {
    const paths = collection.fields
      .filter(({ type }) => ['string', 'text', 'email', 'url'].includes(type))
      .map(({ slug }) => `values.${slug}`)
    if (paths.length === 0) continue
    const named = { parent: collection._id, $or: paths.map(person.mayBeNamedIn) }
    for await (const entry of tenant.entries.stream<Entry>([{ $match: named }]))
      if (person.isNamedIn(entry.values)) yield { collection, entry }
  }
}

async function eraseEntries(context: Context, person: Person): Promise<number> {
  let erased = 0
  for await (const { collection, entry } of entriesOf(context, person))
    erased += await eraseEntry(context, collection._id, entry)
  return erased
}

/** Deletes an entry with its unique values. It publishes nothing: the event would name the person. */
function eraseEntry({ store, collections }: Context, parent: Types.ObjectId, { _id, organization }: Entry) {
  const remove = async (tx: ClientSession) => {
    const tenant = collections.of(organization, tx)
    const { deletedCount } = await tenant.entries.deleteOne({ _id })
    if (deletedCount === 0) return 0
    await tenant.uniqueValues.deleteMany({ entry: _id })
    await tenant.collections.updateOne({ _id: parent }, { $inc: { entryCount: -1 } }, { timestamps: false })
    return 1
  }
  return store.transaction(remove, { queue: queueOf(String(parent)) })
}
