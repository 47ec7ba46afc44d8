import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Route, ruleOf } from '@rollcall/contract'
import { MongoClient } from 'mongodb'
import type { Answer } from './api.ts'
import { fromElsewhere, manyAddresses, pathOf, routes, titleOf } from './every-route.ts'
import {
  bodyFieldsOf,
  exampleBody,
  exampleOf,
  type Field,
  fieldsWithin,
  makeOneOfEach,
  ownPath,
  queryFieldsOf,
} from './example.ts'
import { startStack, type TestStack } from './stack.ts'

/** Input that a route must refuse, with the start of the expected message and the path at its end. */
type Bad = { what: string; body?: string; query?: string; refusal: string }

const polluting = ['__proto__', 'constructor', 'prototype', '$where']
/** Exceeds the default limit of text. */
const anyMaxLength = 10_000
/** Longer arrays are not generated: they would exceed the limit of a body. */
const longestArray = 10_000

const withField = (body: object, path: readonly string[], value: unknown): object => {
  const [name = '', ...rest] = path
  const inner = (body as Record<string, object | undefined>)[name] ?? {}
  return { ...body, [name]: rest.length === 0 ? value : withField(inner, rest, value) }
}

const without = (body: object, path: readonly string[]): object => {
  const [name = '', ...rest] = path
  const { [name]: inner, ...others } = body as Record<string, object>
  return rest.length === 0 ? others : { ...others, [name]: without(inner ?? {}, rest) }
}

/** Returns every kind of bad value that a field must refuse, with the refusal. */
function badValuesOf(field: Field, path: string): [what: string, value: unknown, refusal: string][] {
  const { nullable, nonEmpty, maxItems, json } = ruleOf(field)
  const invalid = `invalid field -> ${path}`
  if (json === 'any')
    return [
      ['a wrong type', [], path],
      ['a wrong value', 'nonsense', path],
    ]
  const single = badSingleValuesOf(field)
  if (!field.repeated && json !== 'texts')
    return [
      ...single.map(([what, value]) => [what, value, invalid] as [string, unknown, string]),
      ...(nullable ? [] : [['null', null, invalid] as [string, unknown, string]]),
    ]
  const tooMany = Math.min(maxItems ?? longestArray, longestArray) + 1
  const example = (exampleOf(field) as unknown[])[0]
  return [
    ['text for an array', 'text', invalid],
    ['null', null, invalid],
    ['an object for an array', { 0: example }, invalid],
    ['too many', Array(tooMany).fill(example), invalid],
    ...(nonEmpty ? [['an empty array', [], `empty array -> ${path}`] as [string, unknown, string]] : []),
    ...[...single, ['null', null] as const].map(
      ([what, value]) => [`${what} within`, [example, value], `${invalid}.1`] as [string, unknown, string],
    ),
  ]
}

function badSingleValuesOf(field: Field): [what: string, value: unknown][] {
  const { required, trim, format, oneOf, minLen: least = 0, maxLen: most = anyMaxLength, json } = ruleOf(field)
  if (fieldsWithin(field) || (json !== undefined && json !== 'texts'))
    return [
      ['text for an object', 'text'],
      ['an array for an object', []],
      ['a number for an object', 1],
    ]
  if (field.type === 'bool')
    return [
      ['text for a boolean', 'yes'],
      ['a number for a boolean', 1],
      ['an array', []],
    ]
  if (field.type !== 'string')
    return [
      ['text for a number', '1'],
      ['a boolean', true],
      ['a number out of range', 1e300],
    ]
  return [
    ['a number for text', 1],
    ['a boolean for text', true],
    ['an object for text', { $ne: null }],
    ['an array for text', ['text']],
    ['a text too long', 'x'.repeat(most + 1)],
    ...(required || least > 0 ? [['an empty text', ''] as [string, string]] : []),
    ...((required || least > 0) && trim ? [['white space', '   '] as [string, string]] : []),
    ...(format || oneOf ? [['another text', '__proto__'] as [string, string]] : []),
  ]
}

/** Returns the bad input for a field and its nested fields. */
function badFieldInput(example: object, field: Field, above: readonly string[] = []): Bad[] {
  const path = [...above, field.name]
  const name = path.join('.')
  const found: Bad[] = badValuesOf(field, name).map(([what, value, refusal]) => ({
    what: `${name}: ${what}`,
    body: JSON.stringify(withField(example, path, value)),
    refusal,
  }))
  if (ruleOf(field).required)
    found.push({
      what: `${name}: missing`,
      body: JSON.stringify(without(example, path)),
      refusal: `missing field -> ${name}`,
    })
  const within = field.repeated ? [] : (fieldsWithin(field) ?? [])
  const whole = within.length > 0 ? withField(example, path, exampleOf(field)) : example
  return [...found, ...within.flatMap(inner => badFieldInput(whole, inner, path))]
}

/** Returns all bad input for a route's body: bad fields, unknown fields, and anything but an object. */
function badBodies(route: Route): Bad[] {
  const example = exampleBody(route)
  const text = JSON.stringify(example)
  const names = bodyFieldsOf(route).map(({ name }) => name)
  const extra = [...polluting, 'nonsense', 'organization', '_id']
    .filter(name => !names.includes(name))
    .map(name => ({
      what: `a field ${name}`,
      body: text === '{}' ? `{"${name}":{"polluted":1}}` : `${text.slice(0, -1)},"${name}":{"polluted":1}}`,
      refusal: `extra field -> ${name}`,
    }))
  const noObject = ['[]', '"text"', '1', 'null', '{', '{"a":}'].map(body => ({
    what: `the body ${body}`,
    body,
    refusal: '',
  }))
  return [...bodyFieldsOf(route).flatMap(field => badFieldInput(example, field)), ...extra, ...noObject]
}

const listParameters = ['filter', 'sort', 'projection'] as const

/** Returns all bad input for a route's query: missing, unknown and shared list parameters. */
function badQueries(route: Route): Bad[] {
  const own = queryFieldsOf(route)
  const needed = own.filter(field => ruleOf(field).required).map(field => `${field.name}=${exampleOf(field)}`)
  const refused = (query: string, name: string, refusal: string) => ({
    what: `?${query}`,
    query: [...needed.filter(pair => !pair.startsWith(`${name}=`)), query].join('&'),
    refusal: refusal + name,
  })
  const parameters = own
    .filter(field => ruleOf(field).required)
    .map(field => refused('', field.name, 'missing field -> '))
  const unknown = ['nonsense', '__proto__', 'constructor'].map(name => refused(`${name}=1`, name, 'extra field -> '))
  const extra = [...parameters, ...unknown]
  if (!route.returns.pageOf) return extra
  const lists = listParameters.flatMap(name =>
    ['[]', '1', '{', '{"__proto__":1}', '{"constructor":1}', '{"$where":"1"}', '{"hash":1}', '{"passwordHash":1}'].map(
      value => refused(`${name}=${encodeURIComponent(value)}`, name, 'invalid field -> '),
    ),
  )
  return [...extra, ...lists, refused('filter={}&filter={}', 'filter', 'invalid field -> ')]
}

/** Number of concurrent requests. */
const atOnce = 8
/** Longer than events take to have their effects. */
const quietMs = 2000

/** Collections that change by themselves: housekeeping of the stores, times of last use, late effects of events. */
const volatileCollections = /^(history|inbox|leases|outbox|processes|sessions)$/

describe('bad input', () => {
  let stack: TestStack
  let mongo: MongoClient
  const paths = new Map<Route, string>()
  let untouched: Map<string, string>
  let asked = 0
  let fields = 0
  before(async () => {
    stack = await startStack({ settings: manyAddresses })
    mongo = new MongoClient(stack.backing.MONGODB_URL)
    await makeOneOfEach(stack.owner)
    for (const route of routes) paths.set(route, await ownPath(stack.owner, route))
    untouched = await settled()
  })
  after(async () => {
    await mongo?.close()
    await stack?.stop()
  })

  /** Returns everything that is stored, as text by collection. */
  const everything = async (): Promise<Map<string, string>> => {
    const stored = new Map<string, string>()
    for (const { name } of (await mongo.db().admin().listDatabases()).databases) {
      if (!name.startsWith(stack.namespace)) continue
      for (const collection of await mongo.db(name).collections()) {
        if (volatileCollections.test(collection.collectionName)) continue
        const documents = await collection.find().sort({ _id: 1 }).toArray()
        stored.set(`${name}.${collection.collectionName}`, JSON.stringify(documents))
      }
    }
    return stored
  }

  /** Returns everything that is stored, once it no longer changes. */
  const settled = async (): Promise<Map<string, string>> => {
    for (let before = await everything(); ; ) {
      await sleep(quietMs)
      const now = await everything()
      if (isDeepStrictEqual(now, before)) return now
      before = now
    }
  }

  const send = (route: Route, { body, query = '' }: Bad): Promise<Answer<{ message: string; path?: string }>> =>
    fromElsewhere(stack.owner).request(route.verb, `${paths.get(route)}${query && `?${query}`}`, {
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    })

  /** Returns why an answer is not the declared refusal; undefined if it is. */
  const problemOf = (
    route: Route,
    { what, refusal }: Bad,
    { status, body, text }: Answer<{ message: string; path?: string }>,
  ) => {
    const isDeclared = status === 400 && (body.message.startsWith(refusal) || body.path === refusal)
    return isDeclared ? undefined : `${titleOf(route)} ${what}: ${status} ${text.slice(0, 200)}, not ${refusal}`
  }

  const problemsOn = async (route: Route, inputs: readonly Bad[]): Promise<string[]> => {
    const problems: (string | undefined)[] = []
    const judge = async (bad: Bad) => problemOf(route, bad, await send(route, bad))
    for (let begun = 0; begun < inputs.length; begun += atOnce)
      problems.push(...(await Promise.all(inputs.slice(begun, begun + atOnce).map(judge))))
    asked += inputs.length
    return problems.filter(problem => problem !== undefined)
  }

  const plain = routes.filter(({ via }) => via === 'json' || via === 'sign_in' || via === 'sign_out')
  for (const route of plain) {
    it(`is refused as declared by ${titleOf(route)}`, async () => {
      fields += bodyFieldsOf(route).length + queryFieldsOf(route).length
      const problems = await problemsOn(route, [...(route.hasBody ? badBodies(route) : []), ...badQueries(route)])
      assert.deepEqual(problems, [])
    })
  }

  for (const route of plain.filter(({ path }) => path.includes(':'))) {
    it(`is refused by ${titleOf(route)} in its path`, async () => {
      for (const value of ['__proto__', 'constructor', '%00', 'null', '%2e%2e', 'x'.repeat(5000), '{"$ne":1}']) {
        asked++
        const answer = await fromElsewhere(stack.owner).request(route.verb, pathOf(route, encodeURI(value)))
        assert.ok([400, 404].includes(answer.status), `${value}: ${answer.status} ${answer.text}`)
      }
    })
  }

  it('changes nothing', async () => {
    const now = await everything()
    assert.deepEqual([...now.keys()], [...untouched.keys()])
    for (const [collection, documents] of now) assert.equal(documents, untouched.get(collection), collection)
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  it('would be seen where a route takes what it is given', async () => {
    const route = routes.find(({ path, verb }) => verb === 'POST' && path === '/api/tokens')!
    const { check } = route
    route.check = ({ params, body }) => ({ request: { ...params, ...(body as object) }, headers: {} })
    try {
      assert.notEqual((await problemsOn(route, badBodies(route))).length, 0)
    } finally {
      route.check = check
    }
  })

  it('is tried on every field of every route', t => {
    assert.equal(fields, plain.flatMap(route => [...bodyFieldsOf(route), ...queryFieldsOf(route)]).length)
    t.diagnostic(`bad input: ${asked} requests on ${fields} fields of ${plain.length} routes, each refused as declared`)
  })
})
