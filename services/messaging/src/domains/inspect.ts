import { AppError } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { checkRecords } from '../dns/check.ts'
import type { DnsRecord, Domain } from './domain.model.ts'

/** The records of a domain with the results of a DNS check. */
export type Inspection = Pick<Domain, 'sendingRecords' | 'receivingRecords' | 'recommendedRecords' | 'lastCheckedAt'>

const MAX_MS = 6000
/** Reserved for the provider, the database and the answer. */
const RESERVE_MS = 2500

/**
 * Checks all records of a domain in DNS, within the deadline of the call.
 * @throws {AppError} service.unavailable if the call is aborted
 */
export async function inspect(
  { lookups }: Pick<Context, 'lookups'>,
  { domain, sendingRecords, receivingRecords, recommendedRecords }: Domain,
  { deadline, signal }: Pick<Call, 'deadline' | 'signal'>,
  now = new Date(),
): Promise<Inspection> {
  const records = [...sendingRecords, ...receivingRecords, ...recommendedRecords]
  const limitMs = Math.max(0, Math.min(MAX_MS, deadline - Date.now() - RESERVE_MS))
  const over = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const findings = await checkRecords(lookups, domain, records, over)
  if (signal.aborted) throw new AppError('service.unavailable', {}) // results are incomplete
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

/** Returns the fault of each incorrect record, such as `DKIM (TXT k1._domainkey.m.example.com): not found`. */
export function faultsOf(records: readonly DnsRecord[]): string[] {
  return records
    .filter(({ status }) => status !== 'ok')
    .map(({ purpose, type, name, reason, status }) => `${labels[purpose]} (${type} ${name}): ${reason ?? status}`)
}

/** Whether a record is that of a DKIM key. */
export function isRecordOf(record: DnsRecord, selector: string): boolean {
  return record.purpose === 'dkim' && record.name.startsWith(`${selector}._domainkey.`)
}
