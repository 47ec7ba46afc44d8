import type { Context } from '../context.ts'
import { type Domain, dkimKeyPlace } from '../domains/domain.model.ts'
import type { DkimKey } from './compose.ts'

/** The key that a domain's mail is signed with; undefined where its provider signs. */
export function signingKey({ secrets }: Pick<Context, 'secrets'>, domain: Domain): DkimKey | undefined {
  const key = domain.dkimKeys.find(({ state }) => state === 'active')
  if (!key?.privateKey) return undefined
  const privateKey = secrets.open(key.privateKey, dkimKeyPlace(domain))
  return { domainName: domain.domain, keySelector: key.selector, privateKey }
}
