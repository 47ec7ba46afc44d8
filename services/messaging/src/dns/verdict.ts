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
export function missing(reason = 'not found'): Verdict {
  return { status: 'missing', reason }
}

export function mismatch(reason: string): Verdict {
  return { status: 'mismatch', reason }
}

export function conflict(reason: string): Verdict {
  return { status: 'conflict', reason }
}
