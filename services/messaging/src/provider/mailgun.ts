import { AppError } from '@rollcall/contract'
import { retry } from '@rollcall/runtime'
import { z } from 'zod'
import { canonical, isAskable } from '../dns/names.ts'
import { callMailgun, type MailgunAccount, type MailgunCall, Refusal } from './mailgun-http.ts'
import type { MailProvider, ProviderDomain, ProviderKey, RecordDraft } from './port.ts'

/** How long to wait for Mailgun, in milliseconds. */
export type MailgunTimeouts = {
  /** Timeout of one request. Default 3,000. */
  answerMs?: number
  /** Timeout of a call with all retries. Default 7,000. */
  callMs?: number
}

/** Mailgun as a mail provider, with a check of the API key. */
export type Mailgun = MailProvider & { checkKey(): Promise<void> }

const KEY_BITS = '2048'

const recordSchema = z.object({
  record_type: z.string(),
  name: z.string().nullish(),
  value: z.string().nullish(),
  priority: z.union([z.string().regex(/^\d{1,5}$/), z.number().int()]).nullish(),
})
const recordsSchema = z
  .array(recordSchema)
  .nullish()
  .transform(records => records ?? [])
const domainSchema = z.object({
  domain: z.object({ state: z.string() }),
  sending_dns_records: recordsSchema,
  receiving_dns_records: recordsSchema,
})
const keySchema = z.object({ dns_record: recordSchema })
const keysSchema = z.object({
  items: z.array(z.object({ selector: z.string(), dns_record: recordSchema.nullish() })),
})

type MailgunRecord = z.infer<typeof recordSchema>

/** Creates a mail provider on Mailgun's domains API (version 4). */
export function createMailgun(
  account: MailgunAccount,
  { answerMs = 3000, callMs = 7000 }: MailgunTimeouts = {},
): Mailgun {
  /** Calls Mailgun; retries idempotent requests without a reply. */
  const call = async <T>(schema: z.ZodType<T>, request: MailgunCall): Promise<T> => {
    const attempts = request.method === 'POST' ? 1 : 3
    const deadline = Date.now() + callMs - answerMs
    const answer = await retry(
      async (): Promise<unknown> => JSON.parse(await callMailgun(account, request, answerMs)),
      {
        attempts,
        deadline,
        baseMs: 100,
        retryable: error => !(error instanceof Refusal),
      },
    ).catch(error => {
      throw error instanceof Refusal ? error : new AppError('service.unavailable', {}, { cause: error })
    })
    const parsed = schema.safeParse(answer)
    if (!parsed.success) throw new AppError('service.unavailable', {}, { cause: parsed.error })
    return parsed.data
  }

  const domainPath = (version: string, domain: string) => `/${version}/domains/${encodeURIComponent(domain)}`
  const getDomain = (domain: string) => call(domainSchema, { method: 'GET', path: domainPath('v4', domain) })

  /** Adds a domain, or finds it if an earlier attempt added it: Mailgun rejects duplicates. */
  const addOrFind = async (domain: string, selector: string) => {
    const form = formOf({
      name: domain,
      dkim_selector: selector,
      dkim_key_size: KEY_BITS,
      force_dkim_authority: 'true',
    })
    try {
      return await call(domainSchema, { method: 'POST', path: '/v4/domains', form })
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || isBadKey(refusal)) throw refusal
      return getDomain(domain).catch(error => {
        throw error instanceof Refusal ? refusal : error
      })
    }
  }

  /** Creates a key, or finds it if an earlier attempt created it. Returns its record. */
  const createOrFindKey = async (domain: string, selector: string): Promise<MailgunRecord> => {
    const form = formOf({ signing_domain: domain, selector, bits: KEY_BITS })
    try {
      return (await call(keySchema, { method: 'POST', path: '/v1/dkim/keys', form })).dns_record
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || isBadKey(refusal)) throw refusal
      const { items } = await call(keysSchema, { method: 'GET', path: `${domainPath('v4', domain)}/keys` })
      const record = items.find(key => key.selector === selector)?.dns_record
      if (!record) throw refusal
      return record
    }
  }

  return {
    kind: 'mailgun',
    checkKey: () => translateRefusals(call(z.unknown(), { method: 'GET', path: '/v4/domains?limit=1' }).then(() => {})),
    addDomain: (domain, selector) =>
      translateRefusals(addOrFind(domain, selector).then(found => providerDomain(domain, found))),
    confirmDomain: domain =>
      translateRefusals(
        call(domainSchema, { method: 'PUT', path: `${domainPath('v4', domain)}/verify` }).then(
          found => found.domain.state === 'active',
        ),
      ),
    addKey: (domain, selector) =>
      translateRefusals(createOrFindKey(domain, selector).then(record => keyOf(recordOf(domain, record)))),
    activateKey: (domain, selector) => {
      const path = `${domainPath('v4', domain)}/keys/${encodeURIComponent(selector)}/activate`
      return translateRefusals(call(z.unknown(), { method: 'PUT', path }).then(() => {}))
    },
    removeDomain: domain =>
      translateRefusals(
        call(z.unknown(), { method: 'DELETE', path: domainPath('v3', domain) }).then(
          () => {},
          error => {
            if (!(error instanceof Refusal && error.status === 404)) throw error
          },
        ),
      ),
  }
}

/** Converts a refusal to an API error. */
async function translateRefusals<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (isBadKey(error)) throw new AppError('provider.key_refused', {}, { cause: error })
    throw new AppError('provider.refused', { reply: error.message }, { cause: error })
  }
}

function isBadKey({ status }: Refusal): boolean {
  return status === 401 || status === 403
}

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

function providerDomain(domain: string, answer: z.infer<typeof domainSchema>): ProviderDomain {
  const sending = answer.sending_dns_records.filter(isKnown).map(record => recordOf(domain, record))
  const rest = sending.filter(({ purpose }) => purpose !== 'dkim')
  const keys = sending.filter(({ purpose }) => purpose === 'dkim').map(keyOf)
  if (keys.length === 0)
    throw new AppError('service.unavailable', {}, { cause: new Error('the answer has no DKIM record') })
  return {
    keys,
    sending: rest.filter(({ purpose }) => purpose === 'spf'),
    receiving: answer.receiving_dns_records
      .filter(({ record_type }) => record_type === 'MX')
      .map(record => recordOf(domain, record)),
    recommended: rest.filter(({ purpose }) => purpose !== 'spf'),
  }
}

function isKnown({ record_type }: MailgunRecord): boolean {
  return record_type === 'TXT' || record_type === 'CNAME'
}

function recordOf(domain: string, { record_type, name, value, priority }: MailgunRecord): RecordDraft {
  const type = z.enum(['TXT', 'CNAME', 'MX']).safeParse(record_type)
  const owner = canonical(name || domain)
  if (!type.success || !isAskable(owner) || !value)
    throw new AppError(
      'service.unavailable',
      {},
      { cause: new Error('the answer has a record that cannot be published') },
    )
  const draft = { type: type.data, name: owner, value }
  if (draft.type === 'MX') return { ...draft, priority: Number(priority ?? 10), purpose: 'mx' }
  if (owner.includes('._domainkey.')) return { ...draft, purpose: 'dkim' }
  if (owner.startsWith('_dmarc.')) return { ...draft, purpose: 'dmarc' }
  return { ...draft, purpose: /^v=spf1\b/i.test(value) ? 'spf' : 'tracking' }
}

function keyOf(record: RecordDraft): ProviderKey {
  return { selector: record.name.split('._domainkey.')[0]!, record, privateKey: null }
}
