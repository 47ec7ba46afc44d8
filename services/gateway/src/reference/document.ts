import type { OpenApi } from '@rollcall/contract'

/** A JSON Schema of the document. */
export type Schema = {
  $ref?: string
  type?: string | readonly string[]
  format?: string
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  oneOf?: readonly Schema[]
  minLength?: number
  maxLength?: number
  maxItems?: number
  additionalProperties?: boolean | Schema
}

/** Content of a body or an answer, by media type. */
export type Content = Readonly<Record<string, { schema: Schema; example?: unknown }>>

/** A parameter of an operation. */
export type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema }

/** An operation of the document, with its verb and path. */
export type Operation = {
  verb: string
  path: string
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  security?: readonly object[]
  parameters: readonly Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Readonly<Record<string, { $ref?: string; description?: string; content?: Content }>>
  'x-sdk'?: string
  'x-permission'?: string
  'x-scope'?: string
  'x-limit'?: { requests: number; windowSeconds: number }
  'x-error-codes': Readonly<Record<string, readonly string[]>>
  'x-codeSamples'?: readonly { lang: string; source: string }[]
}

/** An error of the catalogue. */
export type DescribedError = { status: number; message: string }

/** Operations of one tag. */
export type Group = { name: string; slug: string; description: string; operations: readonly Operation[] }

/** Returns the operations of a document by tag, in the order of its tags. */
export function groupsOf(document: OpenApi): Group[] {
  const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ ...operation, verb: verb.toUpperCase(), path }) as Operation),
  )
  const byTag = Map.groupBy(operations, ({ tags }) => tags[0]!)
  return document.tags.map(({ name, description }) => ({
    name,
    slug: name.toLowerCase(),
    description,
    operations: byTag.get(name) ?? [],
  }))
}

const SPELLINGS: Readonly<Record<string, string>> = { otp: 'OTP', oauth: 'OAuth', dkim: 'DKIM', ips: 'IPs' }

/** Returns a title of an operation: List contacts. */
export function titleOf({ operationId }: Operation): string {
  const words = operationId.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  const spelled = words.replace(/\b(otp|oauth|dkim|ips)\b/g, word => SPELLINGS[word]!)
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

/** Returns the anchor of an operation in the page of its group. */
export function anchorOf({ operationId }: Operation): string {
  return operationId.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}
