import type { FinishSenderOauthBody, Sender } from '@rollcall/sdk'

type Provider = NonNullable<Sender['oauth']>['provider']

/** What a provider answered to a request for consent. */
export type ConsentAnswer =
  | { kind: 'granted'; provider: Provider; body: FinishSenderOauthBody }
  | { kind: 'refused'; provider: Provider; reason: string }
  | { kind: 'incomplete' }

const PROVIDERS: readonly Provider[] = ['google', 'microsoft']
const PATH = /^\/console\/connect-account\/?$/

let answer: ConsentAnswer = { kind: 'incomplete' }

/** Returns the answer that opened this page. */
export function consentAnswer(): ConsentAnswer {
  return answer
}

/** Keeps the answer of a provider in memory, and removes its code from the address. */
export function hideConsentCode(): void {
  const { pathname, search } = location
  if (!PATH.test(pathname) || search === '') return
  answer = readConsent(search)
  history.replaceState(history.state, '', pathname)
}

/** Reads the parameters that a provider's answer arrives with. */
export function readConsent(search: string): ConsentAnswer {
  const parameters = new URLSearchParams(search)
  const provider = PROVIDERS.find(known => known === parameters.get('provider'))
  const error = parameters.get('error')
  const code = parameters.get('code')
  const state = parameters.get('state')
  const iss = parameters.get('iss')
  if (provider && error) return { kind: 'refused', provider, reason: parameters.get('error_description') ?? error }
  if (!provider || !code || !state) return { kind: 'incomplete' }
  return { kind: 'granted', provider, body: { code, state, ...(iss && { iss }) } }
}
