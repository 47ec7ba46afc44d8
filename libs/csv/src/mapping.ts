/** Usual headings of the contact's own fields, as `plain` makes them, the surer ones first. */
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

/** No known heading is longer. The time that normalizing takes grows by the square of a run of accents. */
const longestHeading = 100

/** A heading without case, accents, spaces and punctuation; blank where it is too long to be a known one. */
function plain(heading: string): string {
  if (heading.length > longestHeading) return ''
  return heading
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/**
 * A mapping to begin with: which column goes to which field. No field is named twice, and a column that looks like
 * nothing known is left out, as are those that an error report adds (`_row`, `_line` …).
 * @param attributeSlugs what the organization has defined: targets too, and nearer than a synonym of a field
 * @returns target by header; without a prototype, since a header may be `__proto__`
 */
export function suggestMapping(headers: readonly string[], attributeSlugs: readonly string[]): Record<string, string> {
  const mapping: Record<string, string> = Object.create(null)
  const free = headers.filter(header => !header.startsWith('_')).map(header => ({ header, name: plain(header) }))
  const taken = new Set<string>()

  const offer = (target: string, name: string): void => {
    const index = free.findIndex(column => column.name === name)
    if (index === -1 || name === '' || taken.has(target)) return
    const [column] = free.splice(index, 1)
    mapping[column!.header] = target
    taken.add(target)
  }
  for (const target in headings) offer(target, target)
  for (const slug of attributeSlugs) offer(slug, plain(slug))
  for (const [target, names] of Object.entries(headings)) for (const name of names) offer(target, name)
  return mapping
}
