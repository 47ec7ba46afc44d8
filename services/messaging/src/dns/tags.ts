/** The tags of a record such as `v=DKIM1; k=rsa; p=…`: names in lower case, values without the white space around them. */
export function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const part of text.split(';')) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).trim().toLowerCase()
    if (name && !tags.has(name)) tags.set(name, part.slice(at + 1).trim())
  }
  return tags
}

/** Without any white space: where a value may be folded anywhere. */
export function unfolded(text: string): string {
  return text.replace(/\s+/g, '')
}
