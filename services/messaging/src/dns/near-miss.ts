/** Whether texts, one per record, are correct. */
export type IsRight = (texts: readonly string[]) => boolean

const MOST_PARTS = 4

/**
 * Returns which typical mistake of pasting or DNS panels explains incorrect texts, or null.
 * @param value what should have been published
 */
export function nearMiss(texts: readonly string[], value: string, isRight: IsRight): string | null {
  if (texts.some(text => /["\\]/.test(text) && isRight([text.replace(/["\\]/g, '')]))) {
    return texts.some(text => text.includes('"'))
      ? 'quotation marks became part of the value, enter it without them'
      : 'backslashes became part of the value, enter it without them'
  }
  if (texts.some(text => text.endsWith('.') && isRight([text.slice(0, -1)])))
    return 'the value ends with a dot that does not belong to it'
  if (isInParts(texts, isRight))
    return `the value was split into ${texts.length} separate records, it has to be one record (which may consist of several strings)`
  const wanted = comparable(value)
  if (texts.some(text => comparable(text) === wanted))
    return 'upper and lower case were changed, copy the value as it is'
  if (texts.some(text => comparable(text).length > wanted.length && comparable(text).includes(wanted)))
    return 'there is more in the record than the value, enter the value alone'
  const cut = texts.find(text => comparable(text).length > 20 && wanted.startsWith(comparable(text)))
  if (cut) return `the value is cut off after ${cut.length} characters, enter all ${value.length}`
  return null
}

function comparable(text: string): string {
  return text.replace(/[\s;]+/g, '').toLowerCase()
}

/** Whether the texts, joined in some order, make the value. */
function isInParts(texts: readonly string[], isRight: IsRight): boolean {
  if (texts.length < 2 || texts.length > MOST_PARTS) return false
  return orders(texts).some(parts => isRight([parts.join('')]))
}

function orders(items: readonly string[]): string[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map(rest => [item, ...rest]))
}
