import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Logger } from '@rollcall/runtime'
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs'

/** Addresses and credentials of the brokers. */
export type KafkaSettings = {
  brokers: string[]
  clientId: string
  logger: Logger
  ssl?: boolean
  sasl?: SASLOptions
}

/** A Kafka client with its own sockets. */
export type Link = {
  kafka: Kafka
  /** Destroys the sockets and refuses new ones, so that pending requests of this client cannot reach a broker. */
  cut(): void
}

const KEEP_ALIVE_MS = 10_000

/** Opens a client; `retries` is how often it retries a connection before it reports an error. */
export type OpenLink = (retries: number) => Link

/** Opens a client whose abandoned requests can be stopped from arriving late, which kafkajs does not support. */
export function openLink({ brokers, clientId, logger, ssl = false, sasl }: KafkaSettings, retries: number): Link {
  const sockets = new Set<Socket>()
  const unreachable = new Set<string>()
  let isCut = false

  const socketFactory: ISocketFactory = ({ host, port, ssl: tls, onConnect }) => {
    const target = { host, port }
    const socket = tls
      ? connectTls({ ...target, ...(isIP(host) ? {} : { servername: host }), ...tls }, onConnect)
      : connect(target, onConnect)
    socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    logReachability(socket, `${host}:${port}`)
    if (isCut) socket.destroy(new Error('link is cut'))
    return socket
  }

  const logReachability = (socket: Socket, broker: string): void => {
    socket.once('error', err => {
      if (!isCut && !unreachable.has(broker)) logger.warn({ err, broker }, 'kafka broker unreachable') // once, not at every attempt
      unreachable.add(broker)
    })
    socket.once('connect', () => {
      if (unreachable.delete(broker)) logger.info({ broker }, 'kafka broker reachable again')
    })
  }

  const kafka = new Kafka({
    brokers: () => (isCut ? [] : brokers), // an empty list ends its retries at once
    clientId,
    ssl,
    ...(sasl && { sasl }),
    socketFactory,
    connectionTimeout: 2000,
    requestTimeout: 5000,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries },
    logLevel: logLevel.INFO,
    // Debug only: kafkajs logs every attempt, and publishers and consumers log what matters.
    logCreator: () => entry => logger.debug({ kafka: entry.namespace, ...entry.log }, entry.log.message),
  })

  return {
    kafka,
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy(new Error('link is cut'))
    },
  }
}
