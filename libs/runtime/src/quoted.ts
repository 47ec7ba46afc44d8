const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu
const quotes = /["“”„‟«»‹›]/gu
/** What holds addresses together: each with more text behind it. The last three count as dots in domain names. */
const joints = /[.:@\u3002\uff0e\uff61](?=\S)/gu

/**
 * A stranger's text as a mail may show it: in quotes, on one line, and without anything that mail clients make a link of.
 * A space ends an address for every client; characters that are not seen do not.
 */
export function quoted(text: string): string {
  const line = text.replace(unseen, ' ').trim().replace(quotes, "'")
  return `“${line.replace(joints, '$& ')}”`
}
