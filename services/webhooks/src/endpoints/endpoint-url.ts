import { AppError } from '@rollcall/contract'
import { checkHost, UnsafeHost } from '@rollcall/egress'
import type { Context } from '../context.ts'

const HTTPS_PORTS = ['443', '8443']
const HTTP_PORTS = ['80', '8080']
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/**
 * Returns a URL as WHATWG normalizes it.
 * @throws {AppError} request.invalid_field if events must not be sent there
 */
export async function checkUrl(
  { config, addressPolicy }: Pick<Context, 'config' | 'addressPolicy'>,
  text: string,
): Promise<string> {
  const url = URL.parse(text)
  if (!url) throw invalid('not a URL')
  const { WEBHOOK_ALLOW_HTTP: allowsHttp, WEBHOOK_ALLOW_PRIVATE: allowsPrivate } = config
  if (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:'))
    throw invalid(allowsHttp ? 'must begin with https:// or http://' : 'must begin with https://')
  if (url.username !== '' || url.password !== '') throw invalid('must not contain a user or password')
  if (text.includes('#')) throw invalid('must not contain a fragment')
  const ports = config.WEBHOOK_PORTS ?? (allowsHttp ? [...HTTPS_PORTS, ...HTTP_PORTS] : HTTPS_PORTS)
  const port = url.port || DEFAULT_PORTS[url.protocol]!
  if (!allowsPrivate && !ports.includes(port)) throw invalid(`port must be one of ${ports.join(', ')}`)
  await checkHost(url.hostname, addressPolicy).catch(error => {
    throw error instanceof UnsafeHost ? invalid(error.message) : error
  })
  return url.href
}

function invalid(reason: string): AppError {
  return new AppError('request.invalid_field', { path: 'url', reason })
}
