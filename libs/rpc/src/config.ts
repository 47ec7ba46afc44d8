import { milliseconds, parsedBy, port } from '@rollcall/runtime'
import { z } from 'zod'
import { readPublicKeys, readSigningKey, type Trust } from './service-keys.ts'
import { readTlsFolder, type Tls } from './tls.ts'

const addressShape = /^(dns:\/\/([\w.-]+(:\d{1,5})?)?\/)?(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i

/** Whether a text says where a service is: host:port, or dns://[server]/host:port, which finds every replica. */
export const isAddress = (text: string): boolean => addressShape.test(text)

/** Where a service is, as `isAddress` has it: a setting of whoever calls it. */
export const address = () => {
  const error = 'expected host:port, or dns://[server]/host:port'
  return z.string({ error }).refine(isAddress, { error })
}

/** The variables of every process that calls services; spread it into its schema, and pass what it yields to `rpcSettings`. */
export const rpcConfig = {
  /** The service's own key: it signs whom its calls are for. */
  ASSERTION_KEY: parsedBy(readSigningKey, '<service>:<Ed25519 private key, PKCS #8 in base64>'),
  /** The public keys of all services; a service has two while its key is rotated. */
  ASSERTION_PUBLIC_KEYS: parsedBy(
    readPublicKeys,
    '<service>:<Ed25519 public key in base64>, of each service, separated by commas',
  ),
  /** Folder of tls.crt, tls.key and ca.crt for mutual TLS between services; without it calls are in the clear. */
  RPC_TLS_DIR: parsedBy(readTlsFolder, 'a folder with tls.crt, tls.key and ca.crt that fit together').optional(),
}

/** The variables of every service that is called; spread it in the place of `rpcConfig`, for `serveWithin`. */
export const rpcServerConfig = {
  ...rpcConfig,
  /** Port of the gRPC server. */
  PORT: port().default(0),
  /** Connections are renewed after about this time, so that clients find new replicas; 0 leaves them be. */
  RPC_MAX_CONNECTION_AGE_MS: milliseconds().default(0),
}

const callerSchema = z.object(rpcConfig)
const serverSchema = z.object(rpcServerConfig)

/** What `rpcServerConfig` yields. */
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
