import { holderOf, type SecretHolder } from '@rollcall/service'
import type { Collections } from './collections.ts'
import { dkimKeyPlace } from './domains/domain.model.ts'
import { apiKeyPlace, signingKeyPlace } from './provider/provider.model.ts'
import { secretPlace } from './senders/secret-places.ts'

type Holders = Pick<Collections['unscoped'], 'providers' | 'domains' | 'senders' | 'oauthRequests'>

/** Returns where messaging stores sealed secrets. */
export function secretHolders({ providers, domains, senders, oauthRequests }: Holders): SecretHolder[] {
  return [
    holderOf(providers, ({ apiKey, webhookSigningKey = null, organization }) => [
      { path: 'apiKey', sealed: apiKey, place: apiKeyPlace(organization) },
      { path: 'webhookSigningKey', sealed: webhookSigningKey, place: signingKeyPlace(organization) },
    ]),
    holderOf(domains, record =>
      record.dkimKeys.map(({ privateKey }, index) => ({
        path: `dkimKeys.${index}.privateKey`,
        sealed: privateKey,
        place: dkimKeyPlace(record),
      })),
    ),
    holderOf(senders, record => [
      { path: 'smtpPassword', sealed: record.smtpPassword, place: secretPlace.password(record) },
      { path: 'oauthTokens', sealed: record.oauthTokens, place: secretPlace.tokens(record) },
    ]),
    holderOf(oauthRequests, record => [
      { path: 'verifier', sealed: record.verifier, place: secretPlace.verifier(record) },
    ]),
  ]
}
