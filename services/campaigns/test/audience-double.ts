import { AppError } from '@rollcall/contract'
import type { Handlers } from '@rollcall/rpc'
import { Types } from 'mongoose'

/** A contact of the double. */
export type Person = {
  id: string
  email: string
  name: string
  lists: string[]
  attributes: Record<string, unknown>
  unsubscribed: boolean
  blocked: boolean
}

/** A double of the audience service, with the rpcs that campaigns calls. */
export type Audience = {
  /** The contacts of an organization, oldest first. */
  contactsOf(organizationId: string): Person[]
  /** Adds a contact. */
  add(organizationId: string, email: string, rest?: Partial<Person>): Person
  /** Ids of lists and segments that exist, in every organization. */
  known: Set<string>
  /** What each call throws, while set. */
  failure: AppError | undefined
  /** Called before a selection is checked. */
  onCheck: (() => Promise<unknown>) | undefined
  handlers: Handlers<'rollcall.audience.v1.Recipients'>
}

/** Creates the double. A segment matches the contacts that are on a list of its id. */
export function audienceDouble(): Audience {
  const contacts = new Map<string, Person[]>()
  const contactsOf = (organizationId: string) => contacts.get(organizationId) ?? []
  const known = new Set<string>()
  const requireKnown = (field: string, ids: readonly string[], code: 'list.unknown' | 'segment.unknown') => {
    const index = ids.findIndex(id => !known.has(id))
    if (index >= 0) throw new AppError(code, { path: `${field}.${index}` })
  }
  const check = ({
    lists,
    segments,
    excludeLists,
  }: {
    lists: string[]
    segments: string[]
    excludeLists: string[]
  }) => {
    if (audience.failure) throw audience.failure
    requireKnown('lists', lists, 'list.unknown')
    requireKnown('excludeLists', excludeLists, 'list.unknown')
    requireKnown('segments', segments, 'segment.unknown')
  }
  const audience: Audience = {
    contactsOf,
    known,
    failure: undefined,
    onCheck: undefined,
    add(organizationId, email, rest = {}) {
      const id = String(new Types.ObjectId())
      const person = { id, email, name: '', lists: [], attributes: {}, unsubscribed: false, blocked: false, ...rest }
      contacts.set(organizationId, [...contactsOf(organizationId), person])
      return person
    },
    handlers: {
      async checkRecipients({ recipients }, { caller }) {
        if (audience.failure) throw audience.failure
        return {
          recipients: recipients.map(({ contactId, email = '' }) => {
            const person = contactsOf(caller.organizationId).find(({ id }) => id === contactId)
            if (!person) return { outcome: 'deleted', email, variables: { email } }
            const { id, name, attributes } = person
            return {
              outcome: 'ok',
              contactId: id,
              email: person.email,
              variables: { email: person.email, name, attributes, tags: [] },
            }
          }),
        }
      },
      async takeRecipients({ selection, reachableOnly, afterPosition, untilPosition, limit }, { caller }) {
        if (audience.failure) throw audience.failure
        if (selection) check(selection)
        const all = contactsOf(caller.organizationId)
        const until = untilPosition ?? all.length
        const found = all
          .map((person, index) => ({ person, position: index + 1 }))
          .filter(({ position }) => position > afterPosition && position <= until)
          .filter(({ person }) => !reachableOnly || !(person.unsubscribed || person.blocked))
          .filter(({ person: { lists } }) => {
            if (!selection) return true
            const isIn = [...selection.lists, ...selection.segments].some(id => lists.includes(id))
            return isIn && !selection.excludeLists.some(id => lists.includes(id))
          })
          .slice(0, limit)
        return {
          recipients: found.map(({ person: { id, email } }) => ({ contactId: id, email })),
          lastPosition: found.at(-1)?.position ?? until,
          untilPosition: all.length,
          done: found.length < limit,
        }
      },
      async countRecipients(selection, { caller }) {
        check(selection)
        const counts = { reachable: 0, excluded: 0, blocked: 0, unsubscribed: 0, address: 0 }
        for (const { lists, blocked, unsubscribed } of contactsOf(caller.organizationId)) {
          if (![...selection.lists, ...selection.segments].some(id => lists.includes(id))) continue
          if (selection.excludeLists.some(id => lists.includes(id))) counts.excluded++
          else if (blocked) counts.blocked++
          else if (unsubscribed) counts.unsubscribed++
          else counts.reachable++
        }
        return counts
      },
      async checkSelection(selection) {
        await audience.onCheck?.()
        check(selection)
        return {}
      },
      releaseRecipients: async () => ({}),
      getPreferences: async () => ({}),
      changePreferences: async () => ({}),
    },
  }
  return audience
}
