type Field = 'name' | 'title' | 'slug' | 'email' | 'domain' | 'subject'

/** The page that has all of the demonstration's records of a kind. */
export const ALL = { limit: 1000 }

/** Creates each record that a list does not have yet, by one of its fields. */
export async function addMissing<Body extends object>(
  list: PromiseLike<{ docs: { [Name in Field]?: string | null }[] }>,
  field: Field & keyof Body,
  bodies: readonly Body[],
  create: (body: Body) => Promise<unknown>,
): Promise<void> {
  const known = new Set((await list).docs.map(record => record[field]))
  for (const body of bodies) if (!known.has(body[field] as string)) await create(body)
}
