/** For `$addFields`: text that is not known is stored as '' and shown as null. */
export function nullIfEmpty(...fields: string[]): Record<string, object> {
  return Object.fromEntries(fields.map(field => [field, { $cond: [{ $eq: [`$${field}`, ''] }, null, `$${field}`] }]))
}
