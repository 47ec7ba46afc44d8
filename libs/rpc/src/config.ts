import { milliseconds, parsedBy, port } from '@rollcall/runtime'
import { z } from 'zod'
import { readPublicKeys, readSigningKey, type Trust } from './service-keys.ts'
import { readTlsFolder, type Tls } from './tls.ts'

const ADDRESS = /^(dns:\/\/([\w.-]+(:\d{1,5})?)?\/)?(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i

/** Whether a text is the address of a service: host:port, or dns://[server]/host:port, which finds every replica. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** Returns the schema of a service's address, as `isAddress` accepts it. */
export const address = () => {
  const error = 'expected host:port, or dns://[server]/host:port'
  return z.string({ error }).refine(isAddress, { error })
}

/** The variables of a process that calls services. Spread it into the schema, and pass the result to `rpcSettings`. */
export const rpcConfig = {
  /** The service's own key, which signs its assertions. */
  ASSERTION_KEY: parsedBy(readSigningKey, '<service>:<Ed25519 private key, PKCS #8 in base64>'),
  /** The public keys of all services. A service has two during key rotation. */
  ASSERTION_PUBLIC_KEYS: parsedBy(
    readPublicKeys,
    '<service>:<Ed25519 public key in base64>, of each service, separated by commas',
  ),
  /** Folder of tls.crt, tls.key and ca.crt for mutual TLS between services. Without it, calls are unencrypted. */
  RPC_TLS_DIR: parsedBy(readTlsFolder, 'a folder with tls.crt, tls.key and ca.crt that fit together').optional(),
}

/** The variables of a process that serves calls. Spread it instead of `rpcConfig`, for `serveWithin`. */
export const rpcServerConfig = {
  ...rpcConfig,
  /** Port of the gRPC server. */
  PORT: port().default(0),
  /** Approximate maximum age of a connection, so that clients find new replicas; 0: unlimited. */
  RPC_MAX_CONNECTION_AGE_MS: milliseconds().default(0),
}

const callerSchema = z.object(rpcConfig)
const serverSchema = z.object(rpcServerConfig)

/** The parsed `rpcServerConfig`. */
export type ServerConfig = z.infer<typeof serverSchema>

/** The options of `connect` that come from the environment. */
export function rpcSettings(config: z.infer<typeof callerSchema>): {
  trust: Trust
  tls: Tls | undefined
} {
  return {
    trust: { signingKey: config.ASSERTION_KEY, publicKeys: config.ASSERTION_PUBLIC_KEYS },
    tls: config.RPC_TLS_DIR,
  }
}

/** The options of `serve` that come from the environment. */
export function rpcServerSettings(config: ServerConfig & { LISTEN_HOST: string }) {
  return {
    ...rpcSettings(config),
    port: config.PORT,
    host: config.LISTEN_HOST,
    maxConnectionAgeMs: config.RPC_MAX_CONNECTION_AGE_MS,
  }
}
