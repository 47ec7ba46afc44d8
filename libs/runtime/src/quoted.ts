const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu
const QUOTES = /["“”„‟«»‹›]/gu
/** Separators within addresses, followed by more text. The last three count as dots in domain names. */
const ADDRESS_SEPARATORS = /[.:@\u3002\uff0e\uff61](?=\S)/gu

/**
 * Returns untrusted text made safe for a mail: quoted, on one line, without anything that clients turn into a link.
 * A space ends an address in every client; invisible characters do not.
 */
export function quoted(text: string): string {
  const line = text.replace(INVISIBLE, ' ').trim().replace(QUOTES, "'")
  return `“${line.replace(ADDRESS_SEPARATORS, '$& ')}”`
}
