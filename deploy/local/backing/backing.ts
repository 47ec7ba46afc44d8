import type { Cache } from '../install.ts'
import type { Program } from '../supervise.ts'

/** The settings by which every part of the product finds its backing services. */
export type BackingVariable = 'MONGODB_URL' | 'KAFKA_BROKERS' | 'REDIS_CACHE_URL' | 'REDIS_QUEUE_URL'

/** The values of all of them. */
export type BackingEnvironment = Record<BackingVariable, string>

/** A server a run depends on: how it is found, started and known to be ready. */
export type Backing = {
  name: string
  /** Its addresses; one that is set in the environment is used as it is. */
  variables: readonly BackingVariable[]
  /** A program on PATH, else one installed into the cache; a Problem names what is missing and the way out. */
  obtain(cache: Cache): Promise<Server>
  /** Connects to a running server and answers what it is ("MongoDB 8.0.4"); throws when it is not fit for use. */
  check(address: string): Promise<string>
}

/** A server program on this machine, not yet started. */
export type Server = {
  /** Its name and version. */
  label: string
  /** How many ports it listens on; the first is the one clients use. */
  portCount: number
  /** Writes what the program wants to find in its data folder, and answers how to start it. */
  prepare(place: Place): Promise<Program>
  /** Makes the started server fit for use; may be called again until `check` is content. */
  settle?(port: number): Promise<void>
  /** The addresses for the variables, in their order. */
  addresses(port: number): readonly string[]
}

/** Where one server of one run lives. */
export type Place = {
  ports: readonly number[]
  /** Where clients are told to come to, by a server that tells them. */
  advertisedPort: number
  dataDir: string
  durable: boolean
}
