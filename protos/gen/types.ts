// Generated from the protos by `npm run generate`. Do not edit.

/** Codes of the error catalogue. */
export type Errors = {
  code: string[]
}

/** How the gateway carries a call. libs/contract/src/carriers.ts says what each of them means. */
export type Via = 'VIA_UNSPECIFIED' | 'JSON' | 'UPLOAD' | 'SIGN_IN' | 'SIGN_OUT' | 'OAUTH' | 'OAUTH_REGISTRATION' | 'BROWSER' | 'REDIRECT'

/** A group of routes that share a limit. libs/contract/src/limits.ts says how many requests each allows. */
export type LimitGroup = 'LIMIT_GROUP_UNSPECIFIED' | 'LOGIN' | 'OTP' | 'AUTH' | 'TOKEN_EXCHANGE' | 'CLIENT_REGISTRATION' | 'USAGE' | 'CREDITS'

/** Exactly one of the first three. */
export type Access = {
  /** A resource of the permission catalogue; the action follows the HTTP method. */
  resource: string
  /** Any valid credential: the route concerns the caller only. */
  caller: boolean
  /** No credential. */
  public: boolean
  /** Besides: API tokens are resolved at the organization's tenant server, each time; while it is away they get 503. */
  controlPlane: boolean
  /** Required with caller: what a credential limited to a scope (token exchange) needs in it. A resource, with the action of the HTTP method; "any": nothing; "none": no scope suffices. */
  scopedAs: string
  /** With a resource: a second permission that is needed too, as resource.action. */
  also: string
}

export type Returns = {
  /** A page of these records (or a bare array with pagination=false). */
  pageOf: string
  /** A bare array of these records. */
  arrayOf: string
  /** One record. */
  record: string
  /** A file, by its name. */
  download: string
  /** HTTP status of success; 200 where it is not given. */
  status: number
  /** The answer holds a secret: it is not kept to answer a repetition of the request. */
  secret: boolean
}

/** What a field of a request must be like, and of a record is like. Not buf.validate: the API specifies the order and the wording of its errors, which that library chooses itself, and these rules also describe records and JSON kinds. */
export type Rule = {
  /** Absent: 400 missing field. */
  required: boolean
  /** null is a value of its own; a string field carries it as "". */
  nullable: boolean
  /** Characters of a string, or of each string of a list. A required string has at least one. */
  minLen: number
  maxLen: number
  maxItems: number
  /** [] is refused: the list must name something. */
  nonEmpty: boolean
  /** White space around a string is dropped before anything else is checked. */
  trim: boolean
  /** Line breaks and other control characters are allowed: passwords, texts of several lines. Other strings refuse them. */
  controls: boolean
  format: RuleFormat
  /** The values allowed, separated by spaces. */
  oneOf: string
  /** Free JSON: text on the wire, which libs/rpc writes and parses. */
  json: RuleJson
  /** Name in queries, bodies and answers, where it is not the field's own. */
  query: string
  /** A file of a multipart form. */
  file: boolean
}

/** What a text is. */
export type RuleFormat = 'FORMAT_UNSPECIFIED' | 'OBJECT_ID' | 'EMAIL' | 'DATE' | 'URL' | 'CIDR'

/** Kinds of free JSON. ANY with a format is a reference: of that format, or what it refers to with `populate`. */
export type RuleJson = 'JSON_UNSPECIFIED' | 'OBJECT' | 'STRINGS' | 'FLAGS' | 'SCALARS' | 'TEXTS' | 'ANY'

export type Shape = {
  /** A stored record: _id, id, createdAt and updatedAt come with it. */
  record: boolean
  /** At least one of the fields of the body must be there. */
  anyField: boolean
  /** Fields that are not declared are ignored, as the standard behind the route wants it. */
  open: boolean
  /** A line of a view: _id and id come with it. */
  entry: boolean
  /** The data of published events: their CloudEvents types, separated by spaces. The file's name is the service that publishes them. */
  event: string
}

/** The answer of update-style endpoints. */
export type Updated = {
  success: boolean
  message: string
}

/** The shared list parameters. */
export type ListQuery = {
  /** Page number, from 1. */
  page?: number
  /** Items on a page: 10 where it is not given, at most 1000. */
  limit?: number
  /** JSON object. Operators ($eq $ne $gt $gte $lt $lte $in $nin $exists $regex $all $size) stand one level below a field; $and, $or and $nor take arrays. Name a deep field by a dotted key. A $regex has at most 64 characters and must not take long: few quantifiers and alternatives, none nested; *, + and {n,} reach 256 characters, but for the first in a pattern that begins with ^. */
  filter?: string
  /** JSON object: field to 1 or -1. */
  sort?: string
  /** Reference fields to expand, separated by spaces. */
  populate?: string
  /** JSON object: fields to include (1) or to leave out (0). */
  projection?: string
  /** false answers a plain array of every match. */
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

/** Who did something. */
export type Actor = {
  kind: 'user' | 'token' | 'import' | 'workflow' | 'system'
  id: string
  name: string
}

/** Actor as JSON. */
export type ActorJson = {
  kind: 'user' | 'token' | 'import' | 'workflow' | 'system'
  id: string | null
  name: string
}
