import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { DnsRecord } from '@rollcall/sdk'
import { firstDifference, relativeName, rotationOf, selectorOf, zoneFile, zonesOf } from './zone.ts'

const record = (type: string, value: string, priority?: number) =>
  ({ type, name: 'm.example.com', value, priority }) as DnsRecord

it('writes records as a zone file takes them', () => {
  assert.equal(zoneFile([record('CNAME', 'x.example.net')]), 'm.example.com.\tIN\tCNAME\tx.example.net.')
  assert.equal(zoneFile([record('MX', 'mx.example.net', 5)]), 'm.example.com.\tIN\tMX\t5 mx.example.net.')
  const long = zoneFile([record('TXT', 'a'.repeat(300))])
  assert.equal(long, `m.example.com.\tIN\tTXT\t"${'a'.repeat(255)}" "${'a'.repeat(45)}"`)
})

it('finds the first character that differs', () => {
  assert.equal(firstDifference('v=spf1 a', 'v=spf1 b'), 7)
  assert.equal(firstDifference('abc', 'ab'), 2)
  assert.equal(firstDifference('abc', 'abc'), undefined)
})

it('names records relative to the zone that holds them', () => {
  assert.deepEqual(zonesOf('mail.example.com'), ['example.com', 'mail.example.com'])
  assert.deepEqual(zonesOf('news.example.co.uk'), ['example.co.uk', 'news.example.co.uk', 'co.uk'])
  assert.equal(relativeName('k1._domainkey.mail.example.com', 'example.com'), 'k1._domainkey.mail')
  assert.equal(relativeName('example.com', 'example.com'), '@')
  assert.equal(relativeName('_dmarc.example.com', 'mail.example.com'), '_dmarc.example.com.')
})

it('knows both keys of a rotation', () => {
  const key = (name: string) => ({ name, purpose: 'dkim' }) as DnsRecord
  const [old, next] = [key('rc1._domainkey.example.com'), key('rc2._domainkey.example.com')]
  const spf = { name: 'example.com', purpose: 'spf' } as DnsRecord
  assert.equal(rotationOf({ sendingRecords: [spf, old] }), undefined)
  assert.deepEqual(rotationOf({ sendingRecords: [old, spf, next] }), { current: old, next })
  assert.equal(selectorOf(next), 'rc2')
})
