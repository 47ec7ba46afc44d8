import type { Bus } from '@rollcall/bus'
import type { Permission } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import { eraseSentEvents, type Store } from '@rollcall/store'
import { type Person, personOf } from './person.ts'

/** What a collection holds of contacts. */
export type PersonalData<X> = 'none' | HeldData<X>

/** Addresses, names and other data of contacts in a collection. */
export type HeldData<X> = {
  /** What it holds; a cell in the table of the guide for operators. */
  holds: string
  /** For how long at most; another cell. */
  kept: string
  /** What the download of a contact's data shows of it. */
  shown?: ShownData<X>
  /** Erases a person: deletes records, or blanks them. Idempotent. Returns their number. Or the reason why it must not. */
  erase: ((context: X, person: Person) => Promise<number>) | { kept: string }
}

export type ShownData<X> = {
  /** The section of the download. */
  section: string
  /** The permission that callers need to see it. */
  needs: Permission
  find(context: X, person: Person): AsyncIterable<object>
}

/** For each collection of a service, what it holds of contacts. The type asks for every collection. */
export type PersonalDataOf<K, X> = K extends { unscoped: infer C }
  ? { readonly [Name in keyof C]: PersonalData<X> }
  : never

/** Declares data of accounts, which the erasure of a contact leaves alone: it is deleted with the account. */
export function ofAccounts(holds: string, kept = 'until it is deleted'): HeldData<unknown> {
  return { holds, kept, erase: { kept: 'an account is no contact' } }
}

/** What the handlers need besides the declarations. */
type Options<X> = { context: X; store: Store; bus: Pick<Bus, 'caughtUp'> }

/**
 * Serves what a service holds of a person: the audience asks every service to show or to erase it. `defineService` serves
 * it for each of them, from one declaration for each collection.
 *
 * Erasing begins when the service has consumed all events that were published until then, since they can name the person;
 * it ends with the outbox, whose entries do as well.
 */
export function servePeople<X>(
  personalData: Readonly<Record<string, PersonalData<X>>>,
  { context, store, bus }: Options<X>,
): Handlers<'rollcall.people.v1.People'> {
  const held = Object.values(personalData).filter(each => each !== 'none')
  return {
    async *describePerson(request, { caller: { organizationId, permissions } }) {
      const person = personOf({ ...request, organizationId })
      for (const { shown } of held) {
        if (!shown) continue
        const { section, needs, find } = shown
        const isOmitted = permissions !== '*' && !permissions.includes(needs)
        yield { section, ...(isOmitted && { omitted: needs }) }
        if (isOmitted) continue
        for await (const record of find(context, person)) yield { section, record: record as Record<string, unknown> }
      }
    },

    async erasePerson(request, { caller: { organizationId }, signal }) {
      const person = personOf({ ...request, organizationId })
      await bus.caughtUp(signal)
      let records = 0
      for (const { erase } of held) if (typeof erase === 'function') records += await erase(context, person)
      await eraseSentEvents(store, organizationId, signal)
      return { records }
    },
  }
}
