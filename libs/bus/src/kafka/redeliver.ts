import { within } from '@rollcall/runtime'
import type { Message } from 'kafkajs'
import type { OpenLink } from './link.ts'

/** What `redeliver` takes. */
export type RedeliverOptions = {
  open: OpenLink
  /** Remembers up to where the letters have been sent back. */
  group: string
  /** The dead letters' topic, which has one partition. */
  letters: string
  /** Offset of the first letter that stays: those written from now on. */
  end: number
  send: (message: Message) => Promise<void>
  deadlineMs: number
}

/** Sends the dead letters up to `end` back, oldest first, each at least once. Answers how many. */
export const redeliver = async (options: RedeliverOptions): Promise<number> => {
  const link = options.open(2)
  const consumer = link.kafka.consumer({ groupId: options.group, maxWaitTimeInMs: 200 })
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  let sent = 0
  try {
    await within(options.deadlineMs, `sending back ${options.letters}`, async () => {
      await consumer.connect()
      await consumer.subscribe({ topics: [options.letters], fromBeginning: true })
      await consumer.run({
        eachBatchAutoResolve: false,
        eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
          for (const { key, value, headers, offset } of batch.messages) {
            if (Number(offset) >= options.end) break
            await options.send({ key, value, headers: withoutReason(headers) })
            sent++
            resolveOffset(offset)
            await heartbeat()
          }
          if (Number(batch.lastOffset()) >= options.end - 1) resolve()
        },
      })
      await done
      await consumer.disconnect() // commits
    })
  } finally {
    link.cut()
  }
  return sent
}

/** The headers of the original event. */
function withoutReason(headers: Message['headers'] = {}): NonNullable<Message['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('dlq_')))
}
