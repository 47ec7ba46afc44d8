import type { Admin } from 'kafkajs'

/** Returns a group's lag on a topic: the events it has not acknowledged. Takes full names, with prefix. */
export async function lagOf(admin: Admin, groupId: string, topic: string): Promise<number> {
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
  const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
  const partitions = await admin.fetchTopicOffsets(topic)
  return partitions
    .map(({ partition, low, high }) => Number(high) - Math.max(Number(low), offsets.get(partition) ?? 0))
    .reduce((sum, lag) => sum + lag, 0)
}
