/** Parses the tags of a record like `v=DKIM1; k=rsa; p=…`; names become lower case, values are trimmed. */
export function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const part of text.split(';')) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase()
    if (name && !tags.has(name)) tags.set(name, part.slice(at + 1).trim())
  }
  return tags
}

/** Removes all white space, because values may be folded anywhere. */
export function unfolded(text: string): string {
  return text.replace(/\s+/g, '')
}
