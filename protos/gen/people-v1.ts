// Generated from the protos by `npm run generate`. Do not edit.

/** What a service holds of a person. Every domain service serves it (libs/service); only the audience calls it. These are calls and not events, because they carry addresses, which a topic would keep. */
export type People = {
  /** Returns what the service holds of a person. */
  describePerson: { kind: 'server_stream'; request: PersonRequest; response: PersonRecord }
  /** Erases what the service holds of a person. Idempotent: the answer counts what this call has erased. */
  erasePerson: { kind: 'unary'; request: PersonRequest; response: ErasePersonResponse }
}

export type PersonRequest = {
  contactId: string
  /** The keys of the addresses that the contact has and had. */
  emailKeys: string[]
  /** The names that the contact has and had. */
  names: string[]
}

export type PersonRecord = {
  /** The section of the download that the record belongs to: messages, events … Each begins with a message without record. */
  section: string
  record?: Record<string, unknown>
  /** The permission that the caller lacks to see the section. */
  omitted?: string
}

export type ErasePersonResponse = {
  /** Records that were deleted or blanked. */
  records: number
}
