import { judgeDkim } from './dkim.ts'
import { canonical } from './names.ts'
import { nearMiss } from './near-miss.ts'
import type { RecordData } from './reply.ts'
import { judgeSpf } from './spf.ts'
import { parseTags, unfolded } from './tags.ts'
import { conflict, type Expected, mismatch, missing, ok, type Verdict } from './verdict.ts'

/** Compares the DNS answer for a record with the expected value. */
export function judge(expected: Expected, records: readonly RecordData[]): Verdict {
  const texts = records.map(({ text }) => text)
  if (expected.type === 'MX') return judgeMx(expected, records)
  if (expected.type === 'CNAME') return judgeAlias(expected, texts)
  if (expected.purpose === 'dkim') return judgeDkim(texts, expected.value)
  if (expected.purpose === 'spf') return judgeSpf(texts, expected.value)
  if (expected.purpose === 'dmarc') return judgeDmarc(texts, expected.value)
  return judgeText(texts, expected.value)
}

/** Accepts any valid DMARC policy: its content is the domain's choice (RFC 7489). */
function judgeDmarc(texts: readonly string[], value: string): Verdict {
  const isPolicy = (text: string) => /^\s*v\s*=\s*DMARC1\s*(?:;|$)/i.test(text)
  const hasAction = (text: string) => /^(?:none|quarantine|reject)$/i.test(parseTags(text).get('p') ?? '')
  const policies = texts.filter(isPolicy)
  if (policies.length > 1)
    return conflict(`${policies.length} DMARC policies, receivers then follow none of them: keep one`)
  if (policies[0]) return hasAction(policies[0]) ? ok : mismatch('the policy lacks p=none, p=quarantine or p=reject')
  const isRight = (candidates: readonly string[]) => candidates.every(text => isPolicy(text) && hasAction(text))
  const reason = nearMiss(texts, value, isRight)
  if (reason) return mismatch(reason)
  return texts.length > 0 ? mismatch('there is a TXT record, but no DMARC policy in it') : missing()
}

function judgeText(texts: readonly string[], value: string): Verdict {
  const isRight = (candidates: readonly string[]) => candidates.some(text => unfolded(text) === unfolded(value))
  if (isRight(texts)) return ok
  if (texts.length === 0) return missing()
  return mismatch(nearMiss(texts, value, isRight) ?? 'another value is published there')
}

function judgeAlias({ value }: Expected, targets: readonly string[]): Verdict {
  const wanted = canonical(value)
  const [target] = targets
  if (target === undefined) return missing()
  if (targets.includes(wanted)) return ok
  if (target.startsWith(`${wanted}.`))
    return mismatch(`it leads to ${target}: the domain was added behind the value, end the value with a dot`)
  return mismatch(`it leads to ${target} instead of ${wanted}`)
}

function judgeMx({ value, priority }: Expected, records: readonly RecordData[]): Verdict {
  const wanted = canonical(value)
  const servers = records.filter(({ text }) => text === wanted)
  if (records.length === 0) return missing()
  if (servers.some(server => server.priority === priority)) return ok
  const [server] = servers
  if (server) return mismatch(`its priority is ${server.priority} instead of ${priority}`)
  const doubled = records.find(({ text }) => text.startsWith(`${wanted}.`))
  if (doubled)
    return mismatch(`it leads to ${doubled.text}: the domain was added behind the value, end the value with a dot`)
  return mismatch(`mail goes to ${records.map(({ text }) => text || 'nowhere').join(', ')} and not to ${wanted}`)
}
