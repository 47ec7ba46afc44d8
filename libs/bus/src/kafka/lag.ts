import { pause } from '@rollcall/runtime'
import type { Admin } from 'kafkajs'

/** The events of a topic at some time: the first offset that is kept and the one after the last, by partition. */
export type Extent = ReadonlyMap<number, { low: number; high: number }>

const POLL_MS = 200

/** Returns a group's lag on a topic: the events it has not acknowledged. Takes full names, with prefix. */
export async function lagOf(admin: Admin, groupId: string, topic: string): Promise<number> {
  return lagWithin(admin, groupId, topic, await extentOf(admin, topic))
}

/** Returns the events that a topic has now. Takes its full name, with prefix. */
export async function extentOf(admin: Admin, topic: string): Promise<Extent> {
  const partitions = await admin.fetchTopicOffsets(topic)
  return new Map(partitions.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]))
}

/** Resolves when a group has acknowledged these events of a topic. @throws when the signal fires before */
export async function acknowledged(
  admin: Admin,
  groupId: string,
  topic: string,
  extent: Extent,
  signal: AbortSignal,
): Promise<void> {
  while ((await lagWithin(admin, groupId, topic, extent)) > 0) {
    signal.throwIfAborted()
    await pause(POLL_MS, signal)
  }
}

async function lagWithin(admin: Admin, groupId: string, topic: string, extent: Extent): Promise<number> {
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
  const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
  return [...extent]
    .map(([partition, { low, high }]) => Math.max(0, high - Math.max(low, offsets.get(partition) ?? 0)))
    .reduce((sum, lag) => sum + lag, 0)
}
