import { AppError } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { checkRecords } from '../dns/check.ts'
import type { DnsRecord, Domain } from './domain.model.ts'

/** The records of a domain as DNS has them now. */
export type Inspection = Pick<Domain, 'sendingRecords' | 'receivingRecords' | 'recommendedRecords' | 'lastCheckedAt'>

const LONGEST_MS = 6000
/** Left for what comes after DNS: the provider, the database, the answer. */
const RESERVE_MS = 2500

/** Looks up every record of a domain, within what is left of the call's time. Throws `unavailable` once nobody waits for it. */
export async function inspect(
  { lookups }: Pick<Context, 'lookups'>,
  { domain, sendingRecords, receivingRecords, recommendedRecords }: Domain,
  { deadline, signal }: Pick<Call, 'deadline' | 'signal'>,
  now = new Date(),
): Promise<Inspection> {
  const records = [...sendingRecords, ...receivingRecords, ...recommendedRecords]
  const limitMs = Math.max(0, Math.min(LONGEST_MS, deadline - Date.now() - RESERVE_MS))
  const over = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const findings = await checkRecords(lookups, domain, records, over)
  if (signal.aborted) throw new AppError('service.unavailable', {}) // what was cut short says nothing
  const checked = records.map((record, index) => ({ ...record, ...findings[index]!, checkedAt: now }))
  const next = (count: number) => checked.splice(0, count)
  return {
    sendingRecords: next(sendingRecords.length),
    receivingRecords: next(receivingRecords.length),
    recommendedRecords: next(recommendedRecords.length),
    lastCheckedAt: now,
  }
}

const labels: Record<DnsRecord['purpose'], string> = {
  spf: 'SPF',
  dkim: 'DKIM',
  tracking: 'tracking',
  return_path: 'return path',
  mx: 'MX',
  dmarc: 'DMARC',
}

/** What is to be said of each record that is not right: `DKIM (TXT k1._domainkey.m.example.com): not found`. */
export function faultsOf(records: readonly DnsRecord[]): string[] {
  return records
    .filter(({ status }) => status !== 'ok')
    .map(({ purpose, type, name, reason, status }) => `${labels[purpose]} (${type} ${name}): ${reason ?? status}`)
}

/** The sending records that a key has to have published to sign. */
export function isRecordOf(record: DnsRecord, selector: string): boolean {
  return record.purpose === 'dkim' && record.name.startsWith(`${selector}._domainkey.`)
}
