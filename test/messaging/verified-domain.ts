import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import type { TestStack } from '../stack.ts'

/** Stores a domain of the first organization as if its records had been published and verified. */
export async function verifiedDomain(stack: TestStack, domain: string): Promise<void> {
  const { organization } = await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))
  const now = new Date()
  const record = {
    organization: new ObjectId(organization.id),
    domain,
    status: 'verified',
    verified: true,
    verifiedAt: now,
    lastCheckedAt: now,
    sendingRecords: [],
    receivingRecords: [],
    recommendedRecords: [],
    provider: 'self-hosted',
    dkimKeys: [],
    revision: 0,
    senders: 0,
    failures: 0,
    failingSince: null,
    nextCheckAt: null,
    createdBy: { kind: 'system', id: null, name: 'test' },
    createdAt: now,
    updatedAt: now,
  }
  await using client = new MongoClient(stack.backing.MONGODB_URL)
  await client.db(`${stack.namespace}rollcall_messaging`).collection('domains').insertOne(record)
}

/** Adds the sender of the first organization's own mails, with a verified domain. */
export async function addDefaultSender(stack: TestStack): Promise<void> {
  await verifiedDomain(stack, 'news.example.com')
  const sender = { name: 'News', email: 'news@news.example.com', delivery: 'hosted' }
  const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/emails/senders', sender), 201)
  await bodyOf(stack.owner.patch(`/api/emails/senders/${id}/set-default`))
}
