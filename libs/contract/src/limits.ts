import type { LimitGroup } from './options.ts'

/** How many requests one client address may make in a fixed window. */
export type Limit = { requests: number; windowSeconds: number }

/** The limits of the API by group. `global` counts every /api request; the others apply in addition. */
export const limits = {
  global: { requests: 500, windowSeconds: 3 },
  login: { requests: 20, windowSeconds: 60 },
  otp: { requests: 10, windowSeconds: 60 },
  auth: { requests: 30, windowSeconds: 60 },
  token_exchange: { requests: 10, windowSeconds: 60 },
  client_registration: { requests: 5, windowSeconds: 60 },
  usage: { requests: 60, windowSeconds: 60 },
  /** The OpenAPI document and the reference page, which are not routes of the contract. */
  reference: { requests: 60, windowSeconds: 60 },
  page_visit: { requests: 300, windowSeconds: 60 },
  link_visit: { requests: 3000, windowSeconds: 60 },
  form_submit: { requests: 20, windowSeconds: 60 },
  provider_webhook: { requests: 600, windowSeconds: 60 },
  connection_test: { requests: 10, windowSeconds: 60 },
  credits: { requests: 30, windowSeconds: 60 },
} as const satisfies Record<LimitGroup | 'global' | 'reference', Limit>
