/** Status of a record in the API; the reason is a lower-case fragment without a full stop. */
export type Verdict =
  | { status: 'ok'; reason?: string }
  | { status: 'missing' | 'mismatch' | 'conflict' | 'error'; reason: string }

/** A record that should be published. */
export type Expected = {
  type: 'TXT' | 'CNAME' | 'MX'
  name: string
  value: string
  priority?: number
  purpose: 'spf' | 'dkim' | 'tracking' | 'return_path' | 'mx' | 'dmarc'
}

export const ok: Verdict = { status: 'ok' }
export const missing = (reason = 'not found'): Verdict => ({ status: 'missing', reason })
export const mismatch = (reason: string): Verdict => ({ status: 'mismatch', reason })
export const conflict = (reason: string): Verdict => ({ status: 'conflict', reason })
