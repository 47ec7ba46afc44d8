import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Logger } from '@rollcall/runtime'
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs'

/** How to reach the brokers, and as whom. */
export type KafkaSettings = {
  brokers: string[]
  clientId: string
  logger: Logger
  ssl?: boolean
  sasl?: SASLOptions
}

/** A Kafka client with sockets of its own. */
export type Link = {
  kafka: Kafka
  /** Destroys the sockets and refuses new ones: nothing this client still tries can reach a broker. */
  cut(): void
}

const KEEP_ALIVE_MS = 10_000

/** Opens clients with these settings; `retries` is how often one tries to connect before its user is told. */
export type OpenLink = (retries: number) => Link

/** Opens a client whose abandoned requests can be kept from landing late, which kafkajs itself cannot. */
export const openLink = ({ brokers, clientId, logger, ssl = false, sasl }: KafkaSettings, retries: number): Link => {
  const sockets = new Set<Socket>()
  const away = new Set<string>()
  let isCut = false

  const socketFactory: ISocketFactory = ({ host, port, ssl: tls, onConnect }) => {
    const target = { host, port }
    const socket = tls
      ? connectTls({ ...target, ...(isIP(host) ? {} : { servername: host }), ...tls }, onConnect)
      : connect(target, onConnect)
    socket.setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    reportAbsence(socket, `${host}:${port}`)
    if (isCut) socket.destroy(new Error('link is cut'))
    return socket
  }

  const reportAbsence = (socket: Socket, broker: string): void => {
    socket.once('error', err => {
      if (!isCut && !away.has(broker)) logger.warn({ err, broker }, 'kafka is away') // said once, not at every try
      away.add(broker)
    })
    socket.once('connect', () => {
      if (away.delete(broker)) logger.info({ broker }, 'kafka is back')
    })
  }

  const kafka = new Kafka({
    brokers: () => (isCut ? [] : brokers), // an empty list is what ends its tries at once
    clientId,
    ssl,
    ...(sasl && { sasl }),
    socketFactory,
    connectionTimeout: 2000,
    requestTimeout: 5000,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries },
    logLevel: logLevel.INFO,
    // What matters is reported by those who publish and consume; kafkajs itself logs every try.
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
