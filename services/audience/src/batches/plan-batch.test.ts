import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emailKeyOf } from '@rollcall/contract'
import type { ApplyBatchRequest, ApplyBatchRequestRow } from '@rollcall/protos/gen/audience-v1.ts'
import { Types } from 'mongoose'
import type { Definition, Definitions } from '../attributes/attribute-values.ts'
import { type Contact, untouched } from '../contacts/contact.model.ts'
import { checkBatch, planBatch } from './plan-batch.ts'

const definitions: Definitions = new Map<string, Definition>([
  ['company', { slug: 'company', type: 'string', options: [], required: false }],
  ['since', { slug: 'since', type: 'date', options: [], required: false }],
])
const cityRequired: Definitions = new Map([
  ...definitions,
  ['city', { slug: 'city', type: 'string', options: [], required: true }],
])

const row = (email: string, rest: Partial<ApplyBatchRequestRow> = {}): ApplyBatchRequestRow => ({
  row: 1,
  email,
  name: '',
  attributes: {},
  tags: [],
  clearTags: false,
  ...rest,
})

const contact = (email: string, rest: Partial<Contact> = {}): Contact => ({
  ...untouched,
  _id: new Types.ObjectId(),
  organization: new Types.ObjectId(),
  email,
  emailKey: emailKeyOf(email),
  name: 'Contact One',
  attributes: {},
  tags: [],
  unsubscribed: false,
  source: 'api',
  createdBy: { kind: 'system', id: null, name: 'test' },
  unsubscribedAt: null,
  position: 1,
  createdAt: new Date(),
  updatedAt: new Date(),
  ...rest,
})

type Options = Partial<ApplyBatchRequest> & { known?: Contact[]; defined?: Definitions }

function plan(rows: ApplyBatchRequestRow[], { known = [], defined = definitions, ...rest }: Options = {}) {
  const numbered = rows.map((each, index) => ({ ...each, row: index + 1 }))
  const request = {
    jobId: 'a'.repeat(24),
    number: 0,
    duplicateStrategy: 'update',
    tags: [],
    listIds: [],
    rows: numbered,
    ...rest,
  }
  return planBatch(checkBatch(request, defined), new Map(known.map(each => [each.emailKey, each])))
}

const changed = (rows: ApplyBatchRequestRow[], options: Options) =>
  plan(rows, options).updates.map(({ changes }) =>
    Object.fromEntries(changes.map(({ key, from, to }) => [key, [from, to]])),
  )

describe('planBatch', () => {
  it('makes contacts of unknown emails', () => {
    const since = '2024-05-01'
    const attributes = { company: 'Acme', since }
    const { outcomes, inserts } = plan([row(' One@Example.com ', { name: ' One ', attributes, tags: ['a', 'b'] })], {
      tags: ['b', 'c'],
    })
    assert.deepEqual(outcomes, ['CREATED'])
    const contact = {
      email: 'One@Example.com',
      emailKey: 'one@example.com',
      name: 'One',
      attributes: { company: 'Acme', since: new Date(since) },
      tags: ['a', 'b', 'c'],
      unsubscribed: false,
    }
    assert.deepEqual(inserts, [{ row: 1, contact }])
  })

  it('takes and keeps addresses as the API does', () => {
    const { inserts } = plan(["o'one@example.com", 'ünï@exämple.com'].map(email => row(email)))
    assert.deepEqual(
      inserts.map(({ contact }) => contact.email),
      ["o'one@example.com", 'ünï@xn--exmple-cua.com'],
    )
  })

  it('fails rows by themselves, each with its reason', () => {
    const { outcomes, failures } = plan([
      row(''),
      row('nobody'),
      row('ok@example.com'),
      row('a@example.com', { attributes: { since: 'soon' } }),
      row('b@example.com', { attributes: { shoe_size: 43 } }),
      row('c@example.com', { name: 'x'.repeat(201) }),
      row('d@example.com', { tags: Array.from({ length: 101 }, (_, index) => `t${index}`) }),
    ])
    assert.deepEqual(outcomes, ['FAILED', 'FAILED', 'CREATED', 'FAILED', 'FAILED', 'FAILED', 'FAILED'])
    assert.deepEqual(
      failures.map(({ row, field, code }) => [row, field, code]),
      [
        [1, 'email', 'missing_field'],
        [2, 'email', 'invalid_field'],
        [4, 'attributes.since', 'invalid_field'],
        [5, 'attributes.shoe_size', 'extra_field'],
        [6, 'name', 'invalid_field'],
        [7, 'tags', 'invalid_field'],
      ],
    )
    assert.deepEqual(failures[2], {
      row: 4,
      field: 'attributes.since',
      value: 'soon',
      code: 'invalid_field',
      message: 'must be an ISO 8601 date',
    })
  })

  it('asks required attributes of new contacts only', () => {
    const known = [contact('known@example.com')]
    const { outcomes, failures } = plan([row('new@example.com'), row('known@example.com', { name: 'Two' })], {
      known,
      defined: cityRequired,
    })
    assert.deepEqual(outcomes, ['FAILED', 'UPDATED'])
    assert.deepEqual(failures[0]?.field, 'attributes.city')
  })

  it('fails rows with which the attributes of a contact had too much text', () => {
    const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((slug): [string, string] => [slug, 'x'.repeat(10_000)])
    const defined: Definitions = new Map(
      texts.map(([slug]) => [slug, { slug, type: 'string', options: [], required: false }]),
    )
    const of = (pairs: [string, string][]): Record<string, string> => Object.fromEntries(pairs)
    const known = [
      contact('known@example.com', { attributes: of(texts.slice(1)) }),
      contact('former@example.com', { attributes: { ...of(texts), old: 'x'.repeat(10_000) } }),
    ]
    const rows = [
      row('new@example.com', { attributes: of(texts) }),
      row('known@example.com', { attributes: of(texts.slice(0, 1)) }),
      row('former@example.com', { attributes: { a: 'y' } }),
    ]
    const { outcomes, failures, known: applied } = plan(rows, { known, defined })
    assert.deepEqual(outcomes, ['FAILED', 'FAILED', 'UPDATED'])
    assert.deepEqual(applied, [known[1]])
    assert.deepEqual(failures[1], {
      row: 2,
      field: 'attributes',
      value: '',
      code: 'invalid_field',
      message: 'at most 64 KiB of text in all attributes of a contact',
    })
  })

  it('never removes a required attribute', () => {
    const known = [contact('known@example.com', { attributes: { city: 'Oslo' } })]
    const rows = [row('known@example.com', { attributes: { city: null } })]
    assert.deepEqual(plan(rows, { known, defined: cityRequired }).outcomes, ['FAILED'])
  })

  it('changes only what differs', () => {
    const since = new Date('2024-05-01')
    const known = [contact('Known@Example.com', { attributes: { company: 'Acme', since }, tags: ['a'] })]
    const attributes = { company: 'Other', since: since.toISOString() }
    const rows = [row('known@example.com', { name: 'Contact Two', attributes, tags: ['b'] })]
    assert.deepEqual(changed(rows, { known }), [
      { name: ['Contact One', 'Contact Two'], 'attributes.company': ['Acme', 'Other'], tags: [['a'], ['a', 'b']] },
    ])
  })

  it('leaves what is the same unchanged', () => {
    const since = new Date('2024-05-01')
    const known = [contact('known@example.com', { attributes: { since }, tags: ['a', 'b'], unsubscribed: true })]
    const attributes = { since: since.toISOString(), company: null }
    const rows = [row('KNOWN@example.com', { name: 'Contact One', attributes, tags: ['b'], unsubscribed: true })]
    const { outcomes, updates } = plan(rows, { known, tags: ['a'] })
    assert.deepEqual([outcomes, updates], [['UNCHANGED'], []])
  })

  it('keeps the old name where the cell is blank', () =>
    assert.deepEqual(
      plan([row('known@example.com', { name: '  ' })], { known: [contact('known@example.com')] }).outcomes,
      ['UNCHANGED'],
    ))

  it('clears attributes and tags where blanks clear', () => {
    const known = [contact('known@example.com', { attributes: { company: 'Acme' }, tags: ['a'] })]
    const rows = [row('known@example.com', { attributes: { company: null }, clearTags: true })]
    assert.deepEqual(changed(rows, { known, tags: ['job'] }), [
      { 'attributes.company': ['Acme', null], tags: [['a'], ['job']] },
    ])
  })

  it('sets an opt-out, and never clears one', () => {
    const known = [
      contact('in@example.com'),
      contact('out@example.com', { unsubscribed: true }),
      contact('blocked@example.com', { blocked: true, unsubscribed: true }),
    ]
    const rows = [
      row('in@example.com', { unsubscribed: true }),
      row('out@example.com', { unsubscribed: false }),
      row('blocked@example.com', { unsubscribed: false, name: 'Contact Two' }),
    ]
    const { outcomes, optOutsKept } = plan(rows, { known })
    assert.deepEqual(outcomes, ['UPDATED', 'UNCHANGED', 'UPDATED'])
    assert.equal(optOutsKept, 2)
    assert.deepEqual(changed(rows, { known }), [
      { unsubscribed: [false, true] },
      { name: ['Contact One', 'Contact Two'] },
    ])
  })

  it('leaves known contacts wholly alone under skip', () => {
    const known = [contact('known@example.com', { unsubscribed: true })]
    const rows = [row('known@example.com', { name: 'Two', tags: ['b'], unsubscribed: false }), row('new@example.com')]
    const { outcomes, updates, optOutsKept } = plan(rows, { known, duplicateStrategy: 'skip', tags: ['job'] })
    assert.deepEqual(outcomes, ['SKIPPED', 'CREATED'])
    assert.deepEqual([updates, optOutsKept], [[], 0])
  })

  it('lets the last of one email win under update, the first under skip', () => {
    const rows = [
      row('One@example.com', { name: 'First' }),
      row('two@example.com'),
      row('one@example.com', { name: 'Last' }),
      row('one@example.com', { attributes: { since: 'soon' } }),
    ]
    const updating = plan(rows)
    assert.deepEqual(updating.outcomes, ['SKIPPED', 'CREATED', 'CREATED', 'FAILED'])
    assert.deepEqual(
      updating.inserts.map(({ contact: { name } }) => name),
      ['Last', ''],
    )
    const skipping = plan(rows, { duplicateStrategy: 'skip' })
    assert.deepEqual(skipping.outcomes, ['CREATED', 'CREATED', 'SKIPPED', 'FAILED'])
    assert.equal(skipping.inserts[0]?.contact.name, 'First')
  })

  it('takes the next of one email where the first to win cannot be applied', () => {
    const city = (name: string, ...cities: string[]) =>
      row('one@example.com', { name, ...(cities.length > 0 && { attributes: { city: cities[0] } }) })
    const rows = [city('First'), city('Second', 'Oslo'), city('Third', 'Rome'), city('Last')]
    const updating = plan(rows, { defined: cityRequired })
    assert.deepEqual(updating.outcomes, ['SKIPPED', 'SKIPPED', 'CREATED', 'FAILED'])
    const skipping = plan(rows, { defined: cityRequired, duplicateStrategy: 'skip' })
    assert.deepEqual(skipping.outcomes, ['FAILED', 'CREATED', 'SKIPPED', 'SKIPPED'])
    assert.deepEqual(
      [updating, skipping].map(({ inserts }) => inserts.map(({ contact: { name } }) => name)),
      [['Third'], ['Second']],
    )
  })

  it('counts tags that the contact has already against the limit', () => {
    const known = [contact('known@example.com', { tags: Array.from({ length: 100 }, (_, index) => `t${index}`) })]
    assert.deepEqual(plan([row('known@example.com', { tags: ['t5'] })], { known }).outcomes, ['UNCHANGED'])
    assert.deepEqual(plan([row('known@example.com', { tags: ['new'] })], { known }).outcomes, ['FAILED'])
  })
})
