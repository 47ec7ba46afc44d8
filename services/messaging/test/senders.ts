import { Types } from 'mongoose'
import type { Domain } from '../src/domains/domain.model.ts'
import type { Sender } from '../src/senders/sender.model.ts'
import type { TestContext } from './context.ts'

/** Stores a self-hosted domain that is verified, or with these fields. */
export async function storeDomain(
  { context, organizationId }: TestContext,
  domain: string,
  { status = 'verified', ...fields }: Partial<Domain> = {},
): Promise<void> {
  const createdBy = { kind: 'system', id: null, name: 'test' } as const
  const { domains } = context.collections.of(organizationId)
  const verified = status !== 'pending'
  await domains.insertOne({ domain, status, verified, provider: 'self-hosted', createdBy, ...fields })
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
