const MAX_LENGTH = 40

/** Suggests the slug of a name: lower-case letters, digits and underscores, beginning with a letter. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_\d]+|_+$/g, '')
    .slice(0, MAX_LENGTH)
}
