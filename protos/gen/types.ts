// Generated from the protos by `npm run generate`. Do not edit.

/** Codes of the error catalogue. */
export type Errors = {
  code: string[]
}

/** How the gateway carries a call. libs/contract/src/carriers.ts defines what each value means. */
export type Via = 'VIA_UNSPECIFIED' | 'JSON' | 'UPLOAD' | 'SIGN_IN' | 'SIGN_OUT' | 'OAUTH' | 'OAUTH_REGISTRATION' | 'BROWSER' | 'REDIRECT' | 'PAGE'

/** A group of routes that share a rate limit. libs/contract/src/limits.ts sets the requests that each allows. */
export type LimitGroup = 'LIMIT_GROUP_UNSPECIFIED' | 'LOGIN' | 'OTP' | 'AUTH' | 'TOKEN_EXCHANGE' | 'CLIENT_REGISTRATION' | 'USAGE' | 'CREDITS' | 'PAGE_VISIT' | 'LINK_VISIT' | 'FORM_SUBMIT' | 'PROVIDER_WEBHOOK' | 'CONNECTION_TEST'

/** Exactly one of resource, caller and public is set. */
export type Access = {
  /** A resource of the permission catalogue; the action follows the HTTP method. */
  resource: string
  /** Any valid credential. The route concerns the caller only. */
  caller: boolean
  /** No credential. */
  public: boolean
  /** Resolves API tokens at the organization's tenant server on every request. While it is unreachable, tokens get 503. */
  controlPlane: boolean
  /** Required with caller: the permission that a credential limited to a scope (token exchange) needs. A resource, with the action of the HTTP method; "any": no permission; "none": such a credential is refused. */
  scopedAs: string
  /** With a resource: a second required permission, as resource.action. */
  also: string
  /** With caller: API tokens are refused, and so are credentials exchanged for one. */
  sessionOnly: boolean
}

export type Returns = {
  /** A page of these records (or a bare array with pagination=false). */
  pageOf: string
  /** A bare array of these records. */
  arrayOf: string
  /** One record. */
  record: string
  /** A file with this name. */
  download: string
  /** HTTP status of success. Default: 200. */
  status: number
  /** The answer holds a secret, so it is not stored for replays by Idempotency-Key. */
  secret: boolean
  /** A field of the answer, the id of a job: if it is set, the status is 202. */
  accepted: string
}

/** Validates a field of a request, and describes a field of a record. Not buf.validate: the API specifies the order and the wording of its errors, which that library chooses itself. These rules also describe records and JSON kinds. */
export type Rule = {
  /** If absent: 400 missing field. */
  required: boolean
  /** null is a value of its own; a string field carries it as "". */
  nullable: boolean
  /** Length in characters of a string, or of each string of a list. A required string has at least one. */
  minLen: number
  maxLen: number
  maxItems: number
  /** Refuses []. */
  nonEmpty: boolean
  /** Trims a string before any other check. */
  trim: boolean
  /** Allows line breaks and other control characters, as in passwords and multi-line texts. Other strings refuse them. */
  controls: boolean
  format: RuleFormat
  /** Allowed values, separated by spaces. */
  oneOf: string
  /** Free JSON. Text on the wire, which libs/rpc writes and parses. */
  json: RuleJson
  /** Name in queries, bodies and answers, if it differs from the field's name. */
  query: string
  /** A file of a multipart form. */
  file: boolean
  /** JSON that selects records of this message, as the `filter` of lists does. */
  filterOf: string
  /** JSON that orders records of this message, as the `sort` of lists does. */
  sortOf: string
  /** A set of ids of a record that answers leave out: only filters may name it. */
  filterOnly: boolean
  /** What free JSON holds that the service itself checks, for types and schemas: names of libs/contract/src/json-types.ts or of messages, separated by spaces. */
  types: string
  /** Made when the record is shown. Of the parameters of lists, only projection may name it. */
  computed: boolean
  /** Bounds of a number, both allowed. */
  min: number
  max: number
}

/** Format of a text. */
export type RuleFormat = 'FORMAT_UNSPECIFIED' | 'OBJECT_ID' | 'EMAIL' | 'DATE' | 'URL' | 'CIDR'

/** Kinds of free JSON. ANY with a format is a reference: a value of that format, or the record with `populate`. */
export type RuleJson = 'JSON_UNSPECIFIED' | 'OBJECT' | 'STRINGS' | 'FLAGS' | 'SCALARS' | 'TEXTS' | 'ANY'

export type Shape = {
  /** A stored record. Adds _id, id, createdAt and updatedAt. */
  record: boolean
  /** The body must have at least one of the fields. */
  anyField: boolean
  /** Ignores undeclared fields, as the standard of the route requires. */
  open: boolean
  /** An entry of a view. Adds _id and id. */
  entry: boolean
  /** The data of published events: their CloudEvents types, separated by spaces. The name of the file is the name of the publishing service. */
  event: string
  /** With event: the kind of record that it is about. Default: the first word of the type. */
  subject: string
}

/** Confirms an update. */
export type Updated = {
  success: boolean
  message: string
}

/** The shared list parameters. */
export type ListQuery = {
  /** Page number, from 1. */
  page?: number
  /** Items per page, at most 1000. Default: 10. */
  limit?: number
  /** JSON object. Put operators ($eq $ne $gt $gte $lt $lte $in $nin $exists $regex $all $size) one level below a field; $and, $or and $nor take arrays. Name a nested field by a dotted key. A date is ISO 8601, or relative to the time of the request: now, now-30d, now+12h (m h d w). A $regex has at most 64 characters, few quantifiers and alternatives, and no nested quantifiers. *, + and {n,} match at most 256 characters, except the first one in a pattern that begins with ^. */
  filter?: string
  /** JSON object that maps fields to 1 (ascending) or -1 (descending). */
  sort?: string
  /** Reference fields to expand, separated by spaces. */
  populate?: string
  /** JSON object that maps fields to 1 (include) or 0 (exclude). */
  projection?: string
  /** false returns a plain array of every match. */
  pagination?: boolean
}

export type ListRequest = {
  list?: ListQuery | null
}

/** A list that belongs to one record. */
export type ListOfRequest = {
  id: string
  list?: ListQuery | null
}

export type IdRequest = {
  id: string
}

export type Empty = {
}

/** A request of a public page. Pages accept any query, since mail clients and web sites append parameters to links. The address and the user agent of the client are those of the caller. */
export type PageRequest = {
  /** The path variable: a signed token, or a name in the path. */
  key: string
  /** The text after the question mark. */
  query: string
  /** The language that Accept-Language prefers. */
  language: 'en' | 'de'
  /** A HEAD request: the gateway sends no body. */
  isHead: boolean
  /** A browser fetches the page in advance; nobody has opened it. */
  isPrefetch: boolean
  /** The request's Content-Type, Origin and Referer; '' if it has none. */
  contentType: string
  origin: string
  referer: string
  /** The unparsed body, at most 1 MiB. */
  body: Buffer
  /** The organization, where the path names it. */
  organizationId?: string
}

/** The answer of a public page. */
export type PageResponse = {
  /** HTTP status. 0: 200. */
  status: number
  contentType: string
  data: Buffer
  /** Where a redirect leads. */
  location?: string
  /** The page's Content-Security-Policy. Default: it loads and submits nothing. */
  contentSecurityPolicy?: string
  /** Default: no-store. */
  cacheControl?: string
  /** Default: no-referrer. */
  referrerPolicy?: string
  /** For how many milliseconds the gateway may answer the same path with it. It then reports the visits. Default: 0. */
  reuseMs?: number
}

/** Who performed an action. */
export type ActorJson = {
  kind: 'user' | 'token' | 'import' | 'workflow' | 'system'
  id: string | null
  name: string
}
