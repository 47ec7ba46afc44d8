/** Returns a name in canonical form: lower case, without the trailing dot. */
export function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** Whether two names are equal in canonical form. */
export function sameName(one: string, other: string): boolean {
  return canonical(one) === canonical(other)
}

/** Whether a name is the zone or below it; both canonical. */
export function isWithin(name: string, zone: string): boolean {
  return name === zone || zone === '' || name.endsWith(`.${zone}`)
}

const MAX_NAME_BYTES = 253
const MAX_LABEL_BYTES = 63

/** Whether a name is valid in a query; names from hostile replies may not be. */
export function isAskable(name: string): boolean {
  const labels = name.split('.').map(label => Buffer.byteLength(label))
  return Buffer.byteLength(name) <= MAX_NAME_BYTES && labels.every(bytes => bytes > 0 && bytes <= MAX_LABEL_BYTES)
}

/** Returns the name and its parents, nearest first. */
export function upwards(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_label, index) => labels.slice(index).join('.'))
}
