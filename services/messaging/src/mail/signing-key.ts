import { createPrivateKey } from 'node:crypto'
import type { Context } from '../context.ts'
import { type Domain, dkimKeyPlace } from '../domains/domain.model.ts'
import type { DkimKey } from './compose.ts'

/** Returns the key to sign a domain's mail with, or undefined if its provider signs. */
export function signingKey({ secrets }: Pick<Context, 'secrets'>, domain: Domain): DkimKey | undefined {
  const key = domain.dkimKeys.find(({ state }) => state === 'active')
  if (!key?.privateKey) return undefined
  const privateKey = createPrivateKey(secrets.open(key.privateKey, dkimKeyPlace(domain)))
  return { domainName: domain.domain, keySelector: key.selector, privateKey }
}
