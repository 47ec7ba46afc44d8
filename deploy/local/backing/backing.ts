import type { Cache } from '../install.ts'
import type { Program } from '../supervise.ts'

/** The variables with the addresses of the backing services. */
export type BackingVariable = 'MONGODB_URL' | 'KAFKA_BROKERS' | 'REDIS_CACHE_URL' | 'REDIS_QUEUE_URL'

/** The addresses of all backing services, by variable. */
export type BackingEnvironment = Record<BackingVariable, string>

/** A backing service: how to find, start and check it. */
export type Backing = {
  name: string
  /** Its address variables. One that is set in the environment is used as it is. */
  variables: readonly BackingVariable[]
  /**
   * Returns a program on PATH, or installs one into the cache. Throws a Problem with what is missing and what to do.
   */
  obtain(cache: Cache): Promise<Server>
  /** Connects to a running server and returns its name and version ("MongoDB 8.0.4"). Throws if it cannot be used. */
  check(address: string): Promise<string>
}

/** A server program on this machine, not yet started. */
export type Server = {
  /** Its name and version. */
  label: string
  /** Number of ports it listens on; clients use the first. */
  portCount: number
  /** Prepares the data folder and returns the program to start. */
  prepare(place: Place): Promise<Program>
  /** Initializes the started server. May be called again until `check` succeeds. */
  initialize?(port: number): Promise<void>
  /** Returns the addresses for the variables, in their order. */
  addresses(port: number): readonly string[]
}

/** Ports and folder of one server of one run. */
export type Place = {
  ports: readonly number[]
  /** The client port that the server advertises, if it does. */
  advertisedPort: number
  dataDir: string
  durable: boolean
}
