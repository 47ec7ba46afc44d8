import { nearMiss } from './near-miss.ts'
import { parseTags, unfolded } from './tags.ts'
import { conflict, mismatch, missing, ok, type Verdict } from './verdict.ts'

/** Compares the TXT records of a selector with a DKIM key (RFC 6376), tag by tag. */
export function judgeDkim(texts: readonly string[], value: string): Verdict {
  const isRight = (candidates: readonly string[]) => candidates.some(text => isSameKey(text, value))
  const keys = texts.filter(isKey)
  if (isRight(keys)) {
    return keys.length === 1
      ? ok
      : conflict(`${keys.length} DKIM keys are published at this name, keep only the one that is shown here`)
  }
  const reason = nearMiss(texts, value, isRight)
  if (reason) return mismatch(reason)
  if (keys.some(text => parseTags(text).get('p') === '')) return mismatch('the key there is revoked, its p= is empty')
  if (keys.length > 0)
    return mismatch('another key is published there, replace its value with the one that is shown here')
  return texts.length > 0 ? mismatch('there is a TXT record, but no DKIM key in it') : missing()
}

function isKey(text: string): boolean {
  const tags = parseTags(text)
  return tags.has('p') || tags.get('v')?.toUpperCase() === 'DKIM1'
}

/**
 * Whether a record has the same key. Missing tags have defaults; flags and notes are ignored, service types are not.
 */
function isSameKey(text: string, value: string): boolean {
  const [found, wanted] = [parseTags(text), parseTags(value)]
  const services = (found.get('s') ?? '*').toLowerCase().split(':')
  return (
    (found.get('v') ?? 'DKIM1').toUpperCase() === 'DKIM1' &&
    (found.get('k') ?? 'rsa').toLowerCase() === (wanted.get('k') ?? 'rsa').toLowerCase() &&
    services.some(service => ['*', 'email'].includes(service.trim())) &&
    unfolded(found.get('p') ?? '') === unfolded(wanted.get('p') ?? '')
  )
}
