export { type Bus, type BusOptions, type ConsumeOptions, createBus } from './bus.ts'
export { type BusConfig, busConfig, busSettings, saslIsComplete } from './config.ts'
export {
  createQueue,
  type JobQueue,
  type JobWorker,
  type QueueOptions,
  startWorker,
  type WorkerOptions,
} from './jobs.ts'
export type { Consumer } from './kafka/consumer.ts'
export type { Handle, HandleContext } from './kafka/delivery.ts'
export { UnprocessableEvent } from './kafka/message.ts'
export { isTransient } from './kafka/transient.ts'
export { type Context, deadLetterTopic, type Topic, topics } from './topics.ts'
