/** How a call is sent, and the permissions that it needs. */
export type Route = {
  verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with variables as :name. */
  path: string
  /** Where the argument after the path variables goes. */
  input?: 'body' | 'query' | 'file'
  answer: 'json' | 'list' | 'file'
  /** Whether it accepts an Idempotency-Key. */
  keyed?: true
  /** Whether it is a PATCH that starts a job: repeated, it would start another. */
  startsJob?: true
  /** All of them are needed. Empty if the call needs a credential only, or none, or checks the record itself. */
  permissions: readonly string[]
}

/** What a form needs to know of a field of a body. */
export type BodyField = {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'any'
  required?: boolean
  nullable?: boolean
  /** Length in characters of a text, or of each text of an array. */
  minLength?: number
  maxLength?: number
  /** Bounds of a number. */
  minimum?: number
  maximum?: number
  maxItems?: number
  /** Allowed values. */
  values?: readonly string[]
  format?: 'object_id' | 'email' | 'date' | 'url' | 'cidr'
  /** Whether line breaks are allowed. */
  multiline?: boolean
}

/** Options of every call. */
export type RequestOptions = {
  /** Aborts the call. */
  signal?: AbortSignal | undefined
  /** Replaces the client's `timeoutMs`. */
  timeoutMs?: number | undefined
  /** Replaces the client's `maxRetries`. */
  maxRetries?: number | undefined
}

/** Options of a call that accepts an Idempotency-Key. */
export type KeyedOptions = RequestOptions & {
  /** Replaces the key that the client generates. Choose one that survives a restart, to repeat a call safely after it. */
  idempotencyKey?: string | undefined
}

/** Options of an upload. It has no timeout unless one is given. */
export type UploadOptions = KeyedOptions & {
  /** Called with the share that was sent, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
}

/**
 * A file to upload: a `File` of a form, a `Blob` such as that of Node's `openAsBlob`, or anything else that streams. A
 * browser takes the first two only.
 */
export type UploadFile = {
  readonly name?: string
  readonly size: number
  stream(): ReadableStream<Uint8Array>
}

/** A page of records. */
export type Page<T> = {
  docs: T[]
  totalDocs: number
  limit: number
  page: number
  totalPages: number
  pagingCounter: number
  hasPrevPage: boolean
  hasNextPage: boolean
  prevPage: number | null
  nextPage: number | null
}

/** The records that match: `await` returns one page, `for await` yields every match from one streamed answer. */
export type List<T> = Promise<Page<T>> & AsyncIterable<T>

type Item<V> = [V] extends [readonly (infer I)[]] ? I : V

type Operators<V> = {
  $eq?: V | Item<V> | null
  $ne?: V | Item<V> | null
  $gt?: Item<V>
  $gte?: Item<V>
  $lt?: Item<V>
  $lte?: Item<V>
  $in?: readonly (Item<V> | null)[]
  $nin?: readonly (Item<V> | null)[]
  $all?: readonly (Item<V> | null)[]
  $exists?: boolean
} & ([V] extends [readonly unknown[]] ? { $size?: number } : unknown) &
  (string extends Item<V> ? { $regex?: string; $options?: 'i' | '' } : unknown)

/**
 * Selects records by the fields that filters can name: a value, or operators. A text of an array field matches records
 * that have it. Attributes and nested fields are dotted: `{ 'attributes.city': 'Oslo' }`.
 */
export type Filter<Fields> = {
  [Name in keyof Fields]?: Fields[Name] | Item<Fields[Name]> | null | Operators<Fields[Name]>
} & {
  $and?: readonly Filter<Fields>[]
  $or?: readonly Filter<Fields>[]
  $nor?: readonly Filter<Fields>[]
}

/** Order by fields: 1 ascending, -1 descending. The first key comes first. */
export type Sort<Fields> = { [Name in keyof Fields]?: 1 | -1 }

/**
 * The parameters of a list. `page` and `limit` apply to one page, not to `for await`. `Computed` are fields that only
 * projection can name.
 */
export type ListQuery<Fields, Computed extends string = never> = {
  /** From 1. */
  page?: number
  /** Records on a page, at most 1000. Default: 10. */
  limit?: number
  filter?: Filter<Fields>
  sort?: Sort<Fields>
  /** References to expand, separated by spaces. */
  populate?: string
  /** Fields to include (1) or to exclude (0). The types of the records do not follow it. */
  projection?: { [Name in keyof Fields | Computed]?: 0 | 1 }
}
