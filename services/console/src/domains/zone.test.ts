import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { DnsRecord } from '@rollcall/sdk'
import { firstDifference, zoneFile } from './zone.ts'

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
