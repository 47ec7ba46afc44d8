import type { Conditions } from '../kit/list-search.ts'

/** Returns the command that lists the contacts of a filter, for a shell that has a token in ROLLCALL_TOKEN. */
export function curlOf(filter: Conditions, origin: string): string {
  const quoted = `filter=${JSON.stringify(filter)}`.replaceAll("'", `'\\''`)
  return `curl -G -H "Authorization: $ROLLCALL_TOKEN" ${origin}/api/audience --data-urlencode '${quoted}'`
}
