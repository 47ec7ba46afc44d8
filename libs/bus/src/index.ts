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
export type { Consumer, Handle, HandleContext } from './kafka/consumer.ts'
export { UnprocessableEvent } from './kafka/message.ts'
export { isTransient } from './kafka/transient.ts'
export { type CreateRedisOptions, createRedis, type RedisRole, redisReady } from './redis.ts'
export { type Context, deadLetterTopic, type Topic, topics } from './topics.ts'
