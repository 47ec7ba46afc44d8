import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { ChannelCredentials, experimental, ServerCredentials } from '@grpc/grpc-js'

/** The files that one end of a mutual TLS connection proves itself with, and knows the other end by. */
export type Tls = { certificateFile: string; privateKeyFile: string; caCertificateFile: string }

const refreshIntervalMs = 60_000

/**
 * Finds the files for mutual TLS in a folder, named as in a Kubernetes Secret of type `kubernetes.io/tls`: `tls.crt`,
 * `tls.key` and `ca.crt`. Throws where one is missing or is no certificate, or the key belongs to another.
 */
export function readTlsFolder(folder: string): Tls {
  const files = {
    certificateFile: join(folder, 'tls.crt'),
    privateKeyFile: join(folder, 'tls.key'),
    caCertificateFile: join(folder, 'ca.crt'),
  }
  createSecureContext({
    cert: readFileSync(files.certificateFile),
    key: readFileSync(files.privateKeyFile),
    ca: readFileSync(files.caCertificateFile),
  })
  return files
}

/** How a server proves itself; with TLS it also refuses every client without a certificate of the same authority. */
export function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure()
  const files = watched(tls)
  return experimental.createCertificateProviderServerCredentials(files, files, true)
}

/** How a client proves itself; with TLS the server's certificate must name the host that was called. */
export function channelCredentials(tls: Tls | undefined): ChannelCredentials {
  if (!tls) return ChannelCredentials.createInsecure()
  const files = watched(tls)
  return experimental.createCertificateProviderChannelCredentials(files, files)
}

/** Renewed certificates are taken up without a restart: cert-manager and its like replace the files in place. */
function watched(tls: Tls) {
  return new experimental.FileWatcherCertificateProvider({ ...tls, refreshIntervalMs })
}
