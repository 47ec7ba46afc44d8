import { Kafka, logLevel } from 'kafkajs'

/** Deletes the topics with this prefix, because the brokers that tests share have limited room. */
export async function deleteTopics(brokers: string, prefix: string): Promise<void> {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const topics = (await admin.listTopics()).filter(topic => topic.startsWith(prefix))
    if (topics.length > 0) await admin.deleteTopics({ topics })
  } finally {
    await admin.disconnect()
  }
}
