import { isDeepStrictEqual } from 'node:util'

/** The names of the fields in `wanted` whose values differ from those of `before`, in the order of `wanted`. */
export function changedFields<W extends object>(
  before: { [field in keyof W]?: unknown },
  wanted: W,
): (keyof W & string)[] {
  const fields = Object.keys(wanted) as (keyof W & string)[]
  return fields.filter(field => !isDeepStrictEqual(before[field], wanted[field]))
}
