import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type PeerCertificate } from 'node:tls'
import { ChannelCredentials, experimental, ServerCredentials } from '@grpc/grpc-js'

/** The certificate files of one end of a mutual TLS connection. */
export type Tls = { certificateFile: string; privateKeyFile: string; caCertificateFile: string }

const REFRESH_INTERVAL_MS = 60_000

/**
 * Returns the files for mutual TLS in a folder, named as in a Kubernetes Secret of type `kubernetes.io/tls`: `tls.crt`,
 * `tls.key` and `ca.crt`.
 * @throws {Error} if a file is missing or invalid, or the key does not match the certificate
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

/** Returns the credentials of a server. With TLS it refuses clients without a certificate of the same authority. */
export function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure()
  const files = watched(tls)
  return experimental.createCertificateProviderServerCredentials(files, files, true)
}

/** Returns the credentials of a client. With TLS the server's certificate must name the host. */
export function channelCredentials(tls: Tls | undefined): ChannelCredentials {
  if (!tls) return ChannelCredentials.createInsecure()
  const files = watched(tls)
  return experimental.createCertificateProviderChannelCredentials(files, files)
}

/** Returns the URI of a service in its certificate's subject alternative names. */
export function serviceUri(service: string): string {
  return `spiffe://rollcall/${service}`
}

/** Whether a certificate belongs to a service. The same authority signs those of all services. */
export function namesService(certificate: PeerCertificate | undefined, service: string): boolean {
  return certificate?.subjectaltname?.split(', ').includes(`URI:${serviceUri(service)}`) ?? false
}

/** Reloads renewed certificates without a restart: cert-manager replaces the files in place. */
function watched(tls: Tls) {
  return new experimental.FileWatcherCertificateProvider({ ...tls, refreshIntervalMs: REFRESH_INTERVAL_MS })
}
