/** A name as names are compared: lower case, without the dot at its end. */
export function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** Whether two names are the same name. */
export function sameName(one: string, other: string): boolean {
  return canonical(one) === canonical(other)
}

/** Whether a name is the zone's own or one below it. Both canonical. */
export function isWithin(name: string, zone: string): boolean {
  return name === zone || zone === '' || name.endsWith(`.${zone}`)
}

const MAX_NAME_BYTES = 253
const MAX_LABEL_BYTES = 63

/** Whether a name can be asked for at all: what comes out of a hostile answer need not be. */
export function isAskable(name: string): boolean {
  const labels = name.split('.').map(label => Buffer.byteLength(label))
  return Buffer.byteLength(name) <= MAX_NAME_BYTES && labels.every(bytes => bytes > 0 && bytes <= MAX_LABEL_BYTES)
}

/** The name itself and every name above it, nearest first. */
export function upwards(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_label, index) => labels.slice(index).join('.'))
}
