import { within } from '@rollcall/runtime'
import type { Message } from 'kafkajs'
import type { OpenLink } from './link.ts'

/** Options of `redeliver`. */
export type RedeliverOptions = {
  open: OpenLink
  /** Consumer group that stores the offset of the redelivered dead letters. */
  group: string
  /** The dead-letter topic; it has one partition. */
  source: string
  /** Offset at which to stop: later dead letters stay. */
  end: number
  send: (message: Message) => Promise<void>
  deadlineMs: number
}

/** Sends the dead letters before `end` again, oldest first, at least once. Returns their number. */
export async function redeliver(options: RedeliverOptions): Promise<number> {
  const link = options.open(2)
  const consumer = link.kafka.consumer({ groupId: options.group, maxWaitTimeInMs: 200 })
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  let sent = 0
  try {
    await within(options.deadlineMs, `redelivering ${options.source}`, async () => {
      await consumer.connect()
      await consumer.subscribe({ topics: [options.source], fromBeginning: true })
      await consumer.run({
        eachBatchAutoResolve: false,
        eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
          for (const { key, value, headers, offset } of batch.messages) {
            if (Number(offset) >= options.end) break
            await options.send({ key, value, headers: originalHeaders(headers) })
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

/** Returns the headers of the original event. */
function originalHeaders(headers: Message['headers'] = {}): NonNullable<Message['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('dlq_')))
}
