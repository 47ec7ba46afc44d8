import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type AttributeValues,
  castAttributes,
  type Definition,
  type Definitions,
  limitText,
  requireAttributes,
} from './attribute-values.ts'

const define = (...definitions: (Pick<Definition, 'slug' | 'type'> & Partial<Definition>)[]): Definitions =>
  new Map(definitions.map(each => [each.slug, { options: [], required: false, ...each }]))

const definitions = define(
  { slug: 'company', type: 'string' },
  { slug: 'age', type: 'number' },
  { slug: 'vip', type: 'boolean' },
  { slug: 'since', type: 'date' },
  { slug: 'plan', type: 'enum', options: ['free', 'paid'] },
  { slug: 'city', type: 'string', required: true },
)

const cast = (given: Record<string, unknown>) => Object.fromEntries(castAttributes(definitions, given))

describe('castAttributes', () => {
  it('takes a value of each type', () => {
    const given = { company: 'Acme', age: 41.5, vip: false, since: '2024-05-01', plan: 'paid', city: 'Oslo' }
    assert.deepEqual(cast(given), { ...given, since: new Date('2024-05-01T00:00:00Z') })
  })

  it('takes null as a removal', () => assert.deepEqual(cast({ company: null }), { company: null }))

  it('trims text', () => assert.deepEqual(cast({ company: ' Acme ' }), { company: 'Acme' }))

  it('keeps zero without a sign', () => assert.ok(Object.is(cast({ age: -0 }).age, 0)))

  for (const [slug, value] of [
    ['company', 1],
    ['company', 'x'.repeat(10_001)],
    ['age', '41'],
    ['vip', 'yes'],
    ['since', 'May 1'],
    ['since', '2024-02-30'],
    ['since', 1714521600000],
    ['plan', 'Paid'],
    ['city', ' '],
  ] as const) {
    it(`refuses ${JSON.stringify(value).slice(0, 20)} for ${slug}`, () =>
      assert.throws(() => cast({ [slug]: value }), { code: 'request.invalid_field', path: `attributes.${slug}` }))
  }

  it('refuses an unknown slug before a wrong value', () =>
    assert.throws(() => cast({ age: 'x', shoe_size: 43 }), {
      code: 'request.extra_field',
      path: 'attributes.shoe_size',
    }))

  it('refuses names that objects have by themselves', () => {
    for (const slug of ['constructor', '__proto__', 'toString']) {
      const given = JSON.parse(`{"${slug}": "x"}`) as Record<string, unknown>
      assert.throws(() => cast(given), { code: 'request.extra_field', path: `attributes.${slug}` })
    }
  })

  it('takes such a name where it is defined', () => {
    const odd = define({ slug: 'constructor', type: 'string' })
    assert.deepEqual(castAttributes(odd, { constructor: 'x' }), [['constructor', 'x']])
    assert.throws(() => requireAttributes(define({ slug: 'constructor', type: 'string', required: true }), {}))
  })

  it('refuses to remove what is required', () =>
    assert.throws(() => cast({ city: null }), { code: 'request.missing_field', path: 'attributes.city' }))

  it('takes its own output again, or refuses with a declared error', () => {
    const slug = fc.oneof(fc.constantFrom(...definitions.keys()), fc.string())
    const value = fc.oneof(fc.jsonValue(), fc.date({ noInvalidDate: true }).map(String), fc.constantFrom('free', ''))
    const property = fc.property(fc.dictionary(slug, value), given => {
      let values: Record<string, unknown>
      try {
        values = cast(given)
      } catch (error) {
        const { code } = error as { code: string }
        assert.ok(['request.extra_field', 'request.invalid_field', 'request.missing_field'].includes(code))
        return
      }
      assert.deepEqual(Object.keys(values), Object.keys(given))
      assert.deepEqual(cast(JSON.parse(JSON.stringify(values))), values)
    })
    fc.assert(property, { numRuns: 2000 })
  })
})

describe('requireAttributes', () => {
  it('names the first that is missing', () => {
    const two = define({ slug: 'b', type: 'string', required: true }, { slug: 'a', type: 'number', required: true })
    assert.throws(() => requireAttributes(two, {}), { code: 'request.missing_field', path: 'attributes.b' })
    assert.throws(() => requireAttributes(two, { b: 'x' }), { code: 'request.missing_field', path: 'attributes.a' })
    requireAttributes(two, { a: 0, b: 'x' } satisfies AttributeValues)
  })
})

describe('limitText', () => {
  it('counts the bytes of all text', () => {
    const half = 'é'.repeat(16 * 1024)
    limitText([half, half, 7, true, new Date()])
    assert.throws(() => limitText([half, half, 'x']), {
      code: 'request.invalid_field',
      path: 'attributes',
      message: 'invalid field -> attributes: at most 64 KiB of text in all attributes of a contact',
    })
  })
})
