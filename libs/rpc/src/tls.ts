import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type PeerCertificate } from 'node:tls'
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

/** What a service's certificate names it by, as a URI among its subject alternative names. */
export const serviceUri = (service: string): string => `spiffe://rollcall/${service}`

/** Whether a certificate is a service's: the same authority also signs those of the other services. */
export function namesService(certificate: PeerCertificate | undefined, service: string): boolean {
  return certificate?.subjectaltname?.split(', ').includes(`URI:${serviceUri(service)}`) ?? false
}

/** Renewed certificates are taken up without a restart: cert-manager and its like replace the files in place. */
function watched(tls: Tls) {
  return new experimental.FileWatcherCertificateProvider({ ...tls, refreshIntervalMs })
}
