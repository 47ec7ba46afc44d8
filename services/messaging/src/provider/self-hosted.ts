import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { BOUNCE_LABEL } from '../domains/domain.model.ts'
import type { MailProvider, ProviderKey } from './port.ts'

/** Names of the installation's own mail servers, for the DNS records of domains. */
export type MailHosts = {
  /** Has the SPF record of the sending servers. */
  spfInclude: string
  /** Receives bounces. */
  returnPath: string
  /** Receives mail for the domains. */
  mx: string
}

const makeKeyPair = promisify(generateKeyPair)
const DKIM_BITS = 2048
const MX_PRIORITY = 10

/** Creates the provider that sends through the installation's own servers, with its own DKIM keys. */
export function createSelfHosted(hosts: MailHosts): MailProvider {
  const addKey = async (domain: string, selector: string): Promise<ProviderKey> => {
    const { publicKey, privateKey } = await makeKeyPair('rsa', {
      modulusLength: DKIM_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const value = `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`
    return {
      selector,
      record: { type: 'TXT', name: `${selector}._domainkey.${domain}`, value, purpose: 'dkim' },
      privateKey,
    }
  }
  return {
    kind: 'self-hosted',
    addKey,
    addDomain: async (domain, selector) => ({
      keys: [await addKey(domain, selector)],
      sending: [
        { type: 'TXT', name: domain, value: `v=spf1 include:${hosts.spfInclude} ~all`, purpose: 'spf' },
        { type: 'CNAME', name: `${BOUNCE_LABEL}.${domain}`, value: hosts.returnPath, purpose: 'return_path' },
      ],
      receiving: [{ type: 'MX', name: domain, value: hosts.mx, priority: MX_PRIORITY, purpose: 'mx' }],
      recommended: [],
    }),
    confirmDomain: async () => true,
    activateKey: async () => {},
    removeDomain: async () => {},
  }
}
