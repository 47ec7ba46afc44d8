import fc from 'fast-check'
import { Types } from 'mongoose'
import { dates, filtersOn, names, type Operand, oddValues, texts } from '../../libs/store/test/columns.filters.ts'

const ids = Array.from({ length: 4 }, () => new Types.ObjectId())
const numbers = [0, 7, 7.5, -3, 49, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, 1e300, 5e-324, -0]
const tags = ['a', 'b', 'c d', 'é', 'Bulk']
const longAgo = '0001-01-01T00:00:00.000Z'
const pick = <T>(values: readonly T[], number: number): T => values[number % values.length]!

/** For tests: values of a contact of every kind, some of which its fields exclude. */
export function oddContact(number: number) {
  const attributes: Record<string, unknown> = {
    ...(number % 3 > 0 && { city: pick(texts, number * 7) }),
    ...(number % 4 > 0 && { score: pick(numbers, number * 13) }),
    ...(number % 5 > 0 && { since: new Date(pick([...dates, longAgo], number)) }),
    ...(number % 2 > 0 && { active: number % 7 > 2 }),
  }
  const odd = pick(oddValues, number * 11)
  if (odd !== undefined) attributes.any = odd
  return {
    name: pick(names, number * 5),
    tags: [...new Set(tags.slice(0, number % 6))],
    unsubscribed: number % 3 === 0,
    unsubscribedAt: number % 3 === 0 ? new Date(pick(dates, number)) : null,
    blocked: number % 7 === 0,
    blockedReason: number % 7 === 0 ? pick(['asked', 'spam', ''], number) : null,
    user: number % 400 === 399 ? new Types.ObjectId() : null,
    importJob: number % 4 === 0 ? null : pick(ids, number),
    emailStatus: pick(['unknown', 'ok', 'bounced', 'complained'] as const, number),
    attributes,
  }
}

const times = [...dates, longAgo, 'now', 'now-1m', 'now-30d']
const operands: Record<string, Operand> = {
  name: { values: fc.constantFrom(...names, 'nobody'), isText: true },
  email: { values: fc.constantFrom('changed7@example.com', 'BULK3@example.com', 'imported'), isText: true },
  tags: { values: fc.constantFrom(...tags, 'z'), isText: true, isSet: true },
  'attributes.city': { values: fc.constantFrom(...texts, 'Bulk', 'nowhere'), isText: true },
  'attributes.score': { values: fc.oneof(fc.constantFrom(...numbers), fc.integer({ min: -1, max: 51 })) },
  'attributes.since': { values: fc.constantFrom(...dates, longAgo) },
  'attributes.active': { values: fc.boolean() },
  'attributes.any': { values: fc.constantFrom(true, false, 0, 7, 7.5, 'seven', 'a', 'true'), isText: true },
  unsubscribed: { values: fc.boolean() },
  unsubscribedAt: { values: fc.constantFrom(...times) },
  blocked: { values: fc.boolean() },
  blockedAt: { values: fc.constantFrom(...times) },
  blockedReason: { values: fc.constantFrom('asked', 'spam', ''), isText: true },
  user: { values: fc.constantFrom(...ids.map(String)) },
  source: { values: fc.constantFrom('api', 'import', 'form'), isText: true },
  importJob: { values: fc.constantFrom(...ids.map(String)) },
  emailStatus: { values: fc.constantFrom('unknown', 'ok', 'bounced'), isText: true },
  'createdBy.kind': { values: fc.constantFrom('user', 'import'), isText: true },
  'createdBy.name': { values: fc.constantFrom('User One', 'CSV import'), isText: true },
  createdAt: { values: fc.constantFrom(...times) },
  updatedAt: { values: fc.constantFrom(...times) },
}

/** For tests: filters of contacts, of every operator and field. */
export const contactFilters = filtersOn(operands)
