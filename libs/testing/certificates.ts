import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '2']

/** Returns why certificates cannot be created on this machine, or false. */
export function withoutCertificates(): string | false {
  return spawnSync('openssl', ['version']).error ? 'openssl is missing: it makes the certificates' : false
}

/**
 * Creates a certificate authority in the directory. `issue` creates a certificate for a service at a host
 * (`DNS:localhost`) and returns its folder, with the files of a mounted Secret.
 */
export function makeAuthority(
  directory: string,
  authority: string,
): { issue(name: string, host: string, service?: string): string } {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  const [certificate, key] = [`${authority}.crt`, `${authority}.key`]
  openssl('req', '-x509', ...newKey, '-subj', `/CN=${authority}`, '-keyout', key, '-out', certificate)
  return {
    issue(name, host, service = 'gateway') {
      const folder = join(directory, name)
      mkdirSync(folder)
      const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')]
      const signed = [
        '-CA',
        certificate,
        '-CAkey',
        key,
        '-addext',
        `subjectAltName=${host},URI:spiffe://rollcall/${service}`,
      ]
      openssl('req', '-x509', ...newKey, ...signed, '-subj', `/CN=${name}`, ...files)
      copyFileSync(join(directory, certificate), join(folder, 'ca.crt'))
      return folder
    },
  }
}
