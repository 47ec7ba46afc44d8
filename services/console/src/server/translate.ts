import type { ErrorCode } from '@rollcall/sdk'
import { errorTexts } from '@rollcall/sdk/error-texts'
import { escapePattern } from '../kit/escape-pattern.ts'

/** Codes of OAuth clients and between services: the console never gets them. */
type ForeignCode = `client.${string}` | `exchange.${string}` | `oauth.${string}` | `caller.${string}`
/** Codes whose text is only a detail. */
type Wrapper = 'campaign.not_ready' | 'sender.test_failed' | 'webhook.test_failed' | 'domain.records_wrong'
type FileCode = 'file.empty' | 'file.binary' | 'file.encoding' | 'file.headers' | 'file.rows'
export type TranslatedCode = Exclude<ErrorCode, ForeignCode | Wrapper | FileCode>

/** Texts of the server as the console shows them, with the same names of details in braces. */
export type ServerTexts = {
  /** By the code of a refusal. */
  errors: Partial<Record<TranslatedCode, string>>
  /** By the English text, with names of details in braces: reasons within refusals, and texts of records. */
  phrases: Record<string, string>
}

/** Details that are sentences or words of the server again. Others belong to people: they stay as they are. */
const TRANSLATED = new Set(['reason', 'status', 'verb', 'what', 'who', 'unit', 'servers'])
const DETAIL = /\{(\w+)\}/g

/** Translates a text of the server. Returns undefined for one that is unknown, such as the answer of a mail server. */
export type Translate = (text: string) => string | undefined

/** Returns the function that translates the texts of the server. */
export function createTranslate({ errors, phrases }: ServerTexts): Translate {
  const codes = Object.keys(errors) as TranslatedCode[]
  const known: [string, string][] = [
    ...codes.map((code): [string, string] => [errorTexts[code], errors[code]!]),
    ...Object.entries(phrases),
  ]
  const exact = new Map(known)
  const patterns = known
    .filter(([from]) => from.includes('{'))
    .toSorted(([one], [other]) => constantLength(other) - constantLength(one))
    .map(([from, to]) => ({ pattern: patternOf(from), to }))
  const find = (text: string): string | undefined => {
    const same = exact.get(text)
    if (same !== undefined) return same
    for (const { pattern, to } of patterns) {
      const details = pattern.exec(text)?.groups
      if (details) return filled(to, details)
    }
    return undefined
  }
  const filled = (to: string, details: Record<string, string>) =>
    to.replace(DETAIL, (_, name: string) => {
      const value = details[name] ?? ''
      return TRANSLATED.has(name) ? (find(value) ?? value) : value
    })
  return text => {
    const parts = exact.has(text) ? [find(text)] : text.split('; ').map(find)
    return parts.every(part => part !== undefined) ? parts.join('; ') : find(text)
  }
}

/** Returns the length of a text without its details: of several that fit, the longest is meant. */
function constantLength(text: string): number {
  return text.replace(DETAIL, '').length
}

/** Returns the pattern of a text. A detail that is named again has to be the same. */
function patternOf(text: string): RegExp {
  const seen = new Set<string>()
  const source = text.split(DETAIL).map((part, at) => {
    if (at % 2 === 0) return escapePattern(part)
    if (seen.has(part)) return `\\k<${part}>`
    seen.add(part)
    return `(?<${part}>.+?)`
  })
  return new RegExp(`^${source.join('')}$`, 's')
}
