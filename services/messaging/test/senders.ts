import { Types } from 'mongoose'
import type { Sender } from '../src/senders/sender.model.ts'
import type { TestContext } from './context.ts'

/** Stores a domain that is verified, or in this status. */
export async function storeDomain(
  { context, organizationId }: TestContext,
  domain: string,
  status: 'pending' | 'verified' | 'degraded' = 'verified',
): Promise<void> {
  const createdBy = { kind: 'system', id: null, name: 'test' } as const
  const { domains } = context.collections.of(organizationId)
  await domains.insertOne({ domain, status, verified: status !== 'pending', provider: 'self-hosted', createdBy })
}

/** Stores a hosted sender of a new user, with these fields. */
export function storeSender(test: TestContext, email: string, fields: Partial<Sender> = {}): Promise<Sender> {
  const creator = new Types.ObjectId()
  return test.context.collections.of(test.organizationId).senders.insertOne({
    name: 'Sender One',
    email,
    emailKey: email,
    domain: email.split('@')[1]!,
    delivery: 'hosted',
    owner: creator,
    creator,
    ...fields,
  })
}
