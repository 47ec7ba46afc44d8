import { holderOf, type SecretHolder } from '@rollcall/service'
import type { Collections } from './collections.ts'
import { secretPlace } from './endpoints/webhook.model.ts'

/** Returns where webhooks stores sealed secrets. */
export function secretHolders({ webhooks }: Pick<Collections['unscoped'], 'webhooks'>): SecretHolder[] {
  return [
    holderOf(webhooks, record => [
      { path: 'secret', sealed: record.secret, place: secretPlace.signing(record) },
      { path: 'previousSecret', sealed: record.previousSecret, place: secretPlace.signing(record) },
      { path: 'oldestSecret', sealed: record.oldestSecret, place: secretPlace.signing(record) },
      { path: 'headerValues', sealed: record.headerValues, place: secretPlace.headers(record) },
    ]),
  ]
}
