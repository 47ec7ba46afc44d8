import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A double of Mailgun's domain API over HTTP, with one account. */
export type TestMailgun = {
  url: string
  apiKey: string
  /** Domains by name; `state` is whether Mailgun finds their records. */
  domains: Map<string, { state: 'active' | 'unverified'; keys: { selector: string; active: boolean }[] }>
  /** Fails requests with this status and body, or does not reply; without an argument it replies normally. */
  fail(answer?: { status: number; body: string; times?: number } | 'silence'): void
  /** Requests so far, as `METHOD /path`. */
  requests: string[]
  stop(): Promise<void>
}

const KEY = 'k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC'

/** Starts the double on a free port. */
export async function startTestMailgun(): Promise<TestMailgun> {
  const apiKey = 'key-of-the-test'
  const domains: TestMailgun['domains'] = new Map()
  const requests: string[] = []
  let failure: { status: number; body: string; times?: number } | 'silence' | undefined

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '' } = request
    requests.push(`${method} ${url}`)
    if (failure === 'silence') return
    const form = await formOf(request)
    if (failure) {
      const { status, body } = failure
      if (failure.times !== undefined && --failure.times <= 0) failure = undefined
      return void response.writeHead(status).end(body)
    }
    const wanted = `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`
    if (request.headers.authorization !== wanted) return send(response, 401, { message: 'Invalid private key' })
    const [status, body] = answer(domains, method, url, form)
    send(response, status, body)
  }

  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    domains,
    fail(next) {
      failure = next
    },
    requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(
  domains: TestMailgun['domains'],
  method: string,
  url: string,
  form: FormData | undefined,
): [status: number, body: object] {
  const [path = ''] = url.split('?')
  const [, name = '', rest = ''] = /^\/v[34]\/domains\/([^/]+)(.*)$/.exec(path) ?? []
  const known = domains.get(name)
  switch (`${method} ${path}`) {
    case 'GET /v4/domains':
      return [200, { total_count: domains.size, items: [] }]
    case 'POST /v4/domains': {
      const added = String(form?.get('name'))
      if (domains.has(added)) return [400, { message: 'This domain name is already taken' }]
      const keys = [{ selector: String(form?.get('dkim_selector')), active: true }]
      domains.set(added, { state: 'unverified', keys })
      return [200, { message: 'Domain has been created', ...described(domains, added) }]
    }
    case 'POST /v1/dkim/keys': {
      const [domain, selector] = [String(form?.get('signing_domain')), String(form?.get('selector'))]
      const keys = domains.get(domain)?.keys
      if (keys?.some(key => key.selector === selector)) return [400, { message: 'domain key already exists' }]
      keys?.push({ selector, active: false })
      return [200, { signing_domain: domain, selector, dns_record: keyRecord(domain, selector) }]
    }
  }
  if (!known) return [404, { message: 'Domain not found' }]
  if (method === 'DELETE') {
    domains.delete(name)
    return [200, { message: 'Domain will be deleted in the background' }]
  }
  if (rest === '/keys') {
    const items = known.keys.map(({ selector }) => ({
      signing_domain: name,
      selector,
      dns_record: keyRecord(name, selector),
    }))
    return [200, { items }]
  }
  const selector = /^\/keys\/([^/]+)\/activate$/.exec(rest)?.[1]
  if (selector) {
    for (const key of known.keys) if (key.selector === selector) key.active = true
    return [200, { message: 'domain key activated', authority: name, selector, active: true }]
  }
  return [200, described(domains, name)]
}

function described(domains: TestMailgun['domains'], name: string): object {
  const { state, keys } = domains.get(name)!
  const record = (record_type: string, owner: string, value: string) => ({
    cached: [],
    is_active: false,
    name: owner,
    record_type,
    valid: 'unknown',
    value,
  })
  return {
    domain: { id: '1', name, state, type: 'custom', created_at: 'Thu, 13 Oct 2011 18:02:00 GMT' },
    sending_dns_records: [
      record('TXT', name, 'v=spf1 include:mailgun.org ~all'),
      ...keys.map(({ selector }) => keyRecord(name, selector)),
      record('CNAME', `email.${name}`, 'mailgun.org'),
    ],
    receiving_dns_records: [
      { cached: [], priority: '10', record_type: 'MX', valid: 'unknown', value: 'mxa.mailgun.org' },
      { cached: [], priority: '10', record_type: 'MX', valid: 'unknown', value: 'mxb.mailgun.org' },
    ],
  }
}

function keyRecord(domain: string, selector: string): object {
  const name = `${selector}._domainkey.${domain}`
  return { cached: [], is_active: false, name, record_type: 'TXT', valid: 'unknown', value: KEY }
}

async function formOf(request: IncomingMessage): Promise<FormData | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const type = request.headers['content-type']
  if (!type?.startsWith('multipart/form-data')) return undefined
  return new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData()
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
