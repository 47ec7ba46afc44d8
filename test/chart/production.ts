import { podsOf } from './check.ts'
import type { Manifest } from './render.ts'

/** Returns one line for each thing that a release leaves open and the profile for production closes. */
export function openDoors(objects: readonly Manifest[]): string[] {
  const servers = podsOf(objects).filter(({ owner }) => owner.kind === 'Deployment')
  const certificates = objects.filter(({ kind }) => kind === 'Certificate')
  return servers.flatMap(({ labels, spec, container }) => {
    const service = labels['app.kubernetes.io/component'] ?? ''
    const env = new Map(container.env?.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef]))
    const certificate = spec.volumes?.find(({ name }) => name === 'mtls')?.projected?.sources[0]?.secret.name
    const isItsOwn = ({ spec: { secretName, uris } }: Manifest) =>
      secretName === certificate && uris?.join() === `spiffe://rollcall/${service}`
    const user = env.get('KAFKA_USERNAME')
    const sharesUser = typeof user !== 'object' || !user.name.endsWith(`-${service}`)
    return [
      ...(env.has('RPC_TLS_DIR') ? [] : [`${service} talks in the clear`]),
      ...(certificates.filter(isItsOwn).length === 1 ? [] : [`${service} has no certificate of its own`]),
      ...(env.get('KAFKA_TLS') === 'false' ? [`${service} reaches Kafka in the clear`] : []),
      ...(env.has('KAFKA_TLS') && sharesUser ? [`${service} has no Kafka user of its own`] : []),
      ...(container.image.includes('@sha256:') ? [] : [`${service} is an image that can change`]),
    ]
  })
}
