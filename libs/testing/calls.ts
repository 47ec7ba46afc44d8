import type { HttpBody } from '@rollcall/contract'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import { ObjectId } from 'bson'

/** A person of a new organization, or of the given one. */
export function testCaller(organizationId = String(new ObjectId())): { caller: Caller } {
  const caller = serviceCaller('test', organizationId)
  return { caller: { ...caller, kind: 'session', userId: String(new ObjectId()), userName: 'User One' } }
}

/** The JSON of an answer. */
export async function jsonOf<T>(body: Promise<HttpBody>): Promise<T> {
  return JSON.parse((await body).data.toString()) as T
}

/** The text of a streamed answer. */
export async function textOf(bodies: AsyncIterable<HttpBody>): Promise<string> {
  const parts: Buffer[] = []
  for await (const { data } of bodies) parts.push(data)
  return Buffer.concat(parts).toString()
}

/** The JSON of a streamed answer. */
export async function streamedJsonOf<T>(bodies: AsyncIterable<HttpBody>): Promise<T> {
  return JSON.parse(await textOf(bodies)) as T
}
