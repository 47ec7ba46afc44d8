import { eraseAnswers } from '@rollcall/answers'
import { type EventContext, eventPublishers } from '@rollcall/contract'
import { type CallContext, type Client, serviceCaller } from '@rollcall/rpc'
import { type Person, personOf } from '@rollcall/service'
import type { Redis } from 'ioredis'

/** Whom to erase. */
export type ErasedPerson = Pick<Person, 'organizationId' | 'contactId'> & { emailKeys: string[]; names: string[] }

/** Erases a person in one place. Returns the number of records. */
export type Eraser = (person: ErasedPerson, signal: AbortSignal) => Promise<number>

/** Where people are erased, by name. */
export type Erasers = Readonly<Record<string, Eraser>>

/** Clients of what each service holds of people. */
export type People = Readonly<Record<EventContext, Client<'rollcall.people.v1.People'>>>

const DEADLINE_MS = 45_000

/** Returns the erasers of all services, and that of the answers that the gateway keeps. */
export function erasersOf(people: People, answers: { redis: Redis; prefix: string }): Erasers {
  const erasers = eventPublishers.map(name => {
    const erase: Eraser = async ({ organizationId, ...person }, signal) => {
      const caller = serviceCaller('audience', organizationId)
      const call: CallContext = { caller, deadline: Date.now() + DEADLINE_MS, signal }
      return (await people[name].erasePerson(person, call)).records
    }
    return [name, erase] as const
  })
  const gateway: Eraser = async ({ organizationId, ...person }) => {
    const { contactId, isNamedIn } = personOf({ organizationId, ...person })
    const names = (answer: string) => answer.includes(contactId) || isNamedIn(parsed(answer))
    return eraseAnswers(answers.redis, answers.prefix, organizationId, names)
  }
  return { ...Object.fromEntries(erasers), gateway }
}

/** Returns the value that a text holds as JSON, or the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
