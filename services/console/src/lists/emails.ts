/** Returns the addresses of a pasted text, each once. */
export function emailsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter(part => part !== ''))]
}
