/** Common headings of the contact's own fields, normalized, most specific first. */
const headings: Record<string, string[]> = {
  email: [
    ...['email', 'emailaddress', 'emailid', 'email1', 'primaryemail', 'workemail', 'contactemail', 'useremail'],
    ...['email1value', 'mail', 'mailaddress', 'emailadresse', 'adressemail', 'courriel', 'correo', 'correoelectronico'],
  ],
  name: [
    ...['name', 'fullname', 'contactname', 'displayname', 'customername', 'nombre', 'nom', 'nome'],
    ...['firstname', 'givenname', 'vorname', 'prenom', 'lastname', 'surname', 'nachname'],
  ],
  tags: ['tags', 'tag', 'labels', 'label', 'segments'],
  unsubscribed: ['unsubscribed', 'unsubscribe', 'optout', 'optedout', 'emailoptout', 'hasoptedoutofemail'],
}

/** No known heading is longer. The time to normalize is quadratic in the length of a run of accents. */
const MAX_HEADING_LENGTH = 100

/** Returns a heading without case, accents, spaces and punctuation; blank if it is too long to be known. */
function normalized(heading: string): string {
  if (heading.length > MAX_HEADING_LENGTH) return ''
  return heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/**
 * Suggests which column is imported to which field. Uses each field once, and leaves out unknown columns and those that
 * an error file adds (`_row`, `_line` …).
 * @param attributeSlugs the organization's attributes: also targets, preferred over a synonym of a field
 * @returns target by header; without a prototype, since a header may be `__proto__`
 */
export function suggestMapping(headers: readonly string[], attributeSlugs: readonly string[]): Record<string, string> {
  const mapping: Record<string, string> = Object.create(null)
  const free = headers.filter(header => !header.startsWith('_')).map(header => ({ header, name: normalized(header) }))
  const taken = new Set<string>()

  const offer = (target: string, name: string): void => {
    const index = free.findIndex(column => column.name === name)
    if (index === -1 || name === '' || taken.has(target)) return
    const [column] = free.splice(index, 1)
    mapping[column!.header] = target
    taken.add(target)
  }
  for (const target in headings) offer(target, target)
  for (const slug of attributeSlugs) offer(slug, normalized(slug))
  for (const [target, names] of Object.entries(headings)) for (const name of names) offer(target, name)
  return mapping
}
