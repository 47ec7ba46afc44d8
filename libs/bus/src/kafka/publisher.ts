import { within } from '@rollcall/runtime'
import { type Message, Partitioners, type Producer } from 'kafkajs'
import type { Link, OpenLink } from './link.ts'

/** Sends messages to a topic. */
export type Publisher = {
  /**
   * Resolves when all in-sync replicas have them, rejects within `deadlineMs`. Sequential calls stay in order per key.
   */
  send(topic: string, messages: Message[], deadlineMs: number): Promise<void>
  close(): Promise<void>
}

/** Bytes of messages in a request. Its record batches are then smaller than brokers accept, 1 MiB by default. */
const REQUEST_BYTES = 512 * 1024

type Session = { link: Link; ready: Promise<Producer> }

/**
 * Creates an idempotent publisher that starts a new producer session after a failure.
 * kafkajs reuses the failed batch's sequence number. If that batch reached the broker, the next one is dropped as its
 * duplicate. A new session has new numbers, and the old one can no longer reach the broker.
 */
export function createPublisher(open: OpenLink): Publisher {
  let session: Session | undefined

  const start = (): Session => {
    const link = open(2) // few: these retries are nested in the producer's own
    const producer = link.kafka.producer({
      idempotent: true,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 8 },
    })
    const ready = producer.connect().then(() => producer)
    ready.catch(() => undefined) // `send` reports it
    return { link, ready }
  }

  const abandon = (failed: Session): void => {
    if (session === failed) session = undefined
    failed.link.cut()
  }

  return {
    send: async (topic, messages, deadlineMs) => {
      session ??= start()
      const used = session
      try {
        await within(deadlineMs, `publishing to ${topic}`, async () => {
          const producer = await used.ready
          for (const part of partsOf(messages)) await producer.send({ topic, messages: part, acks: -1 })
        })
      } catch (error) {
        abandon(used)
        throw error
      }
    },
    close: async () => {
      if (!session) return
      const { ready, link } = session
      session = undefined
      await ready.then(producer => producer.disconnect()).catch(() => undefined)
      link.cut()
    },
  }
}

/** Splits messages in order into parts of `REQUEST_BYTES`; a larger message is a part by itself. */
function* partsOf(messages: readonly Message[]): Generator<Message[]> {
  let part: Message[] = []
  let bytes = 0
  for (const message of messages) {
    const size = Buffer.byteLength(message.value ?? '')
    if (part.length > 0 && bytes + size > REQUEST_BYTES) {
      yield part
      part = []
      bytes = 0
    }
    part.push(message)
    bytes += size
  }
  yield part
}
