import type { Provider, SetProviderBody } from '@rollcall/sdk'

/** A mail provider as a form holds it: keys are empty unless new ones are entered. */
export type ProviderValues = {
  kind: SetProviderBody['kind'] | ''
  region: NonNullable<SetProviderBody['region']>
  apiKey: string
  webhookSigningKey: string
}

/** Returns what the form begins with. Stored keys are not shown again. */
export function valuesOfProvider({ kind, region }: Provider): ProviderValues {
  return { kind: kind ?? '', region: region === 'eu' ? 'eu' : 'us', apiKey: '', webhookSigningKey: '' }
}

/** Returns the provider as the API takes it. A key that is left empty stays as it is stored. */
export function providerBody({ kind, region, ...keys }: ProviderValues): SetProviderBody {
  if (kind !== 'mailgun') return { kind: 'self-hosted' }
  const entered = Object.entries(keys).map(([name, key]) => [name, key.trim()])
  return { kind, region, ...Object.fromEntries(entered.filter(([, key]) => key)) }
}
