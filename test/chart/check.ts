import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Container, LabelSelector, Labels, Manifest, Peer, PodSpec, PolicyRule } from './render.ts'

/** A pod that an object of a release creates. */
export type Pod = { owner: Manifest; name: string; labels: Labels; spec: PodSpec; container: Container }

/** Values by Secret and key. */
export type Secrets = Record<string, Record<string, string>>

/** The pods of a release: those that serve, those of tasks and that of the test. */
export function podsOf(objects: readonly Manifest[]): Pod[] {
  return objects.flatMap(owner => {
    if (owner.kind === 'Pod') return [podOf(owner, owner.metadata.labels, owner.spec)]
    const template = owner.spec?.template
    return template ? [podOf(owner, template.metadata.labels, template.spec)] : []
  })
}

function podOf(owner: Manifest, labels: Labels, spec: PodSpec): Pod {
  return { owner, name: `${owner.kind}/${owner.metadata.name}`, labels, spec, container: spec.containers[0]! }
}

/** Returns the environment of a pod, with the values of its Secrets. */
export function environmentOf({ container }: Pod, secrets: Secrets): Record<string, string> {
  const entries = (container.env ?? []).map(({ name, value, valueFrom }) => {
    const from = valueFrom?.secretKeyRef
    return [name, from ? secrets[from.name]?.[from.key] : value]
  })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/**
 * Returns the faults between the objects of a release, which may each be valid: one line for each fault, none for a
 * correct release.
 */
export function faultsOf(objects: readonly Manifest[], secrets: Secrets): string[] {
  const release = { objects, pods: podsOf(objects), secrets }
  return CHECKS.flatMap(check => check(release)).sort()
}

type Release = { objects: readonly Manifest[]; pods: readonly Pod[]; secrets: Secrets }

const CHECKS: ((release: Release) => string[])[] = [
  namesAreUnique,
  selectorsMeetTheirPods,
  servicesLeadToPorts,
  routesLeadToServices,
  probesMeetPorts,
  autoscalersHaveTargets,
  secretsExist,
  volumesExist,
  accountsExist,
  podsAreConfined,
  podsStopInTime,
  heapsFit,
  policiesLetCallsThrough,
  policiesCoverEveryPod,
  alertsKeepToTheRelease,
]

const ofKind = ({ objects }: Release, kind: string) => objects.filter(object => object.kind === kind)
const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`
const matches = (labels: Labels, wanted: Labels = {}) =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value)
const selects = (labels: Labels, selector: LabelSelector | undefined) => matches(labels, selector?.matchLabels)

function namesAreUnique({ objects }: Release): string[] {
  const seen = new Set<string>()
  return objects.map(nameOf).flatMap(name => {
    const faults = [
      ...(seen.has(name) ? [`${name} is there twice`] : []),
      ...(name.length > 63 + 20 ? [`${name} is long`] : []),
    ]
    seen.add(name)
    return faults
  })
}

function selectorsMeetTheirPods(release: Release): string[] {
  const { pods } = release
  const expectOne = (object: Manifest, selector: Labels | undefined) => {
    const met = pods.filter(pod => matches(pod.labels, selector)).map(({ name }) => name)
    return met.length === 1 ? [] : [`${nameOf(object)} selects ${met.join(' and ') || 'no pod'}`]
  }
  return [
    ...ofKind(release, 'Service').flatMap(service => expectOne(service, service.spec.selector)),
    ...['Deployment', 'PodDisruptionBudget'].flatMap(kind =>
      ofKind(release, kind).flatMap(object => expectOne(object, object.spec.selector?.matchLabels)),
    ),
  ]
}

const podsBehind = ({ pods }: Release, service: Manifest) =>
  pods.filter(pod => matches(pod.labels, service.spec.selector))
const hasPort = ({ container }: Pod, port: number | string) =>
  (container.ports ?? []).some(({ name, containerPort }) => name === port || containerPort === port)

function servicesLeadToPorts(release: Release): string[] {
  return ofKind(release, 'Service').flatMap(service =>
    podsBehind(release, service).flatMap(pod =>
      (service.spec.ports ?? [])
        .filter(({ targetPort }) => !hasPort(pod, targetPort))
        .map(({ targetPort }) => `${nameOf(service)} leads to port ${targetPort}, which ${pod.name} does not have`),
    ),
  )
}

function routesLeadToServices(release: Release): string[] {
  const services = ofKind(release, 'Service')
  const backends = [...ofKind(release, 'Ingress'), ...ofKind(release, 'HTTPRoute')].flatMap(route =>
    (route.spec.rules ?? []).flatMap(({ http, backendRefs = [] }) => [
      ...(http?.paths ?? []).map(({ backend: { service } }) => ({
        route,
        name: service.name,
        port: service.port.name,
      })),
      ...backendRefs.map(({ name, port }) => ({ route, name, port })),
    ]),
  )
  const isThere = (wanted: { name: string; port: string | number }) =>
    services.some(
      ({ metadata, spec }) =>
        metadata.name === wanted.name &&
        spec.ports?.some(({ name, port }) => name === wanted.port || port === wanted.port),
    )
  const monitors = ofKind(release, 'ServiceMonitor').flatMap(({ spec }) =>
    services.some(
      service =>
        selects(service.metadata.labels, spec.selector) &&
        spec.endpoints?.every(({ port }) => service.spec.ports?.some(({ name }) => name === port)),
    )
      ? []
      : ['the ServiceMonitor finds no service'],
  )
  const lost = backends.filter(backend => !isThere(backend))
  return [
    ...lost.map(({ route, name, port }) => `${nameOf(route)} leads to ${name}:${port}, which is not there`),
    ...monitors,
  ]
}

function probesMeetPorts({ pods }: Release): string[] {
  return pods.flatMap(pod => {
    const { startupProbe, livenessProbe, readinessProbe } = pod.container
    const probes = [startupProbe, livenessProbe, readinessProbe]
    if (pod.owner.kind === 'Deployment' && probes.includes(undefined)) return [`${pod.name} has not every probe`]
    return probes
      .map(probe => probe?.httpGet?.port)
      .filter(port => port !== undefined && !hasPort(pod, port))
      .map(port => `${pod.name} is probed at port ${port}, which it does not have`)
  })
}

function autoscalersHaveTargets(release: Release): string[] {
  const scalers = ofKind(release, 'HorizontalPodAutoscaler')
  const deployments = ofKind(release, 'Deployment')
  const names = deployments.map(({ metadata }) => metadata.name)
  const lost = scalers.filter(({ spec }) => !names.includes(spec.scaleTargetRef?.name ?? ''))
  const scaled = new Set(scalers.map(({ spec }) => spec.scaleTargetRef?.name))
  return [
    ...lost.map(scaler => `${nameOf(scaler)} scales what is not there`),
    ...deployments
      .filter(({ metadata, spec }) => scaled.has(metadata.name) === (spec.replicas !== undefined))
      .map(deployment => `${nameOf(deployment)} gets its replicas from two sides, or from none`),
  ]
}

function secretsExist(release: Release): string[] {
  const { pods, secrets } = release
  const whole = (name: string) => ({ name, key: undefined })
  const references = [
    ...pods.flatMap(pod => [
      ...(pod.container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
      ...(pod.spec.volumes ?? []).flatMap(({ secret, projected }) => [
        ...(secret ? [whole(secret.secretName)] : []),
        ...(projected?.sources ?? []).flatMap(({ secret: { name, items } }) => items.map(({ key }) => ({ name, key }))),
      ]),
      ...(pod.spec.imagePullSecrets ?? []).map(({ name }) => whole(name)),
    ]),
    ...ofKind(release, 'Ingress').flatMap(({ spec }) => (spec.tls ?? []).map(tls => whole(tls.secretName ?? ''))),
  ]
  const lost = references.filter(({ name, key }) =>
    key === undefined ? !secrets[name] : secrets[name]?.[key] === undefined,
  )
  return [...new Set(lost.map(({ name, key }) => `the Secret ${name} has no ${key ?? 'content'}`))]
}

function volumesExist({ pods }: Release): string[] {
  return pods.flatMap(({ name, spec, container }) => {
    const mounts = container.volumeMounts ?? []
    const lost = mounts.filter(mount => !spec.volumes?.some(volume => volume.name === mount.name))
    const named = (container.env ?? []).filter(({ value }) => value?.startsWith('/etc/rollcall/'))
    const unmounted = named.filter(({ value = '' }) => !mounts.some(({ mountPath }) => value.startsWith(mountPath)))
    return [
      ...lost.map(mount => `${name} mounts ${mount.name}, which is no volume`),
      ...unmounted.map(({ value }) => `${name} has nothing mounted at ${value}`),
    ]
  })
}

function accountsExist(release: Release): string[] {
  const accounts = ofKind(release, 'ServiceAccount').map(({ metadata }) => metadata.name)
  return release.pods.flatMap(({ name, owner, spec }) => {
    const isHook = owner.metadata.annotations?.['helm.sh/hook'] !== undefined
    if (isHook)
      return spec.serviceAccountName === undefined ? [] : [`${name} counts on an account that is made after it`]
    return accounts.includes(spec.serviceAccountName ?? '') ? [] : [`${name} has no account of its own`]
  })
}

/** The "restricted" Pod Security Standard, and a little more. */
function podsAreConfined({ pods }: Release): string[] {
  return pods.flatMap(({ name, spec, container }) => {
    const confined = {
      'no token': spec.automountServiceAccountToken === false,
      'a user other than root': spec.securityContext?.runAsNonRoot === true,
      seccomp: JSON.stringify(spec.securityContext?.seccompProfile) === '{"type":"RuntimeDefault"}',
      'a read-only root': container.securityContext?.readOnlyRootFilesystem === true,
      'no way to more rights': container.securityContext?.allowPrivilegeEscalation === false,
      'no capabilities': JSON.stringify(container.securityContext?.capabilities) === '{"drop":["ALL"]}',
      requests: Boolean(container.resources?.requests?.cpu && container.resources.requests.memory),
      'a memory limit': Boolean(container.resources?.limits?.memory),
    }
    return Object.entries(confined).flatMap(([what, isSo]) => (isSo ? [] : [`${name} lacks ${what}`]))
  })
}

function podsStopInTime({ pods, secrets }: Release): string[] {
  return pods
    .filter(({ owner }) => owner.kind === 'Deployment')
    .flatMap(pod => {
      const environment = environmentOf(pod, secrets)
      const preStopSeconds = pod.container.lifecycle?.preStop.sleep.seconds ?? 0
      const needed = preStopSeconds + Number(environment.SHUTDOWN_GRACE_MS) / 1000
      const isInTime = needed < (pod.spec.terminationGracePeriodSeconds ?? 30)
      const drains = Number(environment.SHUTDOWN_DRAIN_MS) < Number(environment.SHUTDOWN_GRACE_MS)
      return [
        ...(isInTime ? [] : [`${pod.name} is killed before it has stopped`]),
        ...(drains ? [] : [`${pod.name} drains until its grace is over`]),
      ]
    })
}

const MEBIBYTES: Record<string, number> = { Mi: 1, Gi: 1024 }
/** Memory of buffers and code. */
const BESIDES_OBJECTS = 80
const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', 'docker', 'Dockerfile'), 'utf8')
const semiSpace = Number(/--max-semi-space-size=(\d+)/.exec(dockerfile)?.[1])

/** Node exits if objects exceed the heap limit. If the whole process exceeds the memory limit, it is killed. */
function heapsFit({ pods, secrets }: Release): string[] {
  return pods.flatMap(pod => {
    const [, heap] = /--max-old-space-size=(\d+)/.exec(environmentOf(pod, secrets).NODE_OPTIONS ?? '') ?? []
    const [, amount, unit = ''] = /^(\d+)(\w+)$/.exec(pod.container.resources?.limits?.memory ?? '') ?? []
    const limit = Number(amount) * (MEBIBYTES[unit] ?? Number.NaN)
    const fits = Number(heap) + 3 * semiSpace + BESIDES_OBJECTS <= limit
    return fits || pod.owner.kind === 'Pod' ? [] : [`${pod.name} has a heap of ${heap} in ${amount}${unit}`]
  })
}

type Direction = 'from' | 'to'

/** Returns the policies that apply to a pod. For a hook of a new release, only hooks that were created before. */
const policiesOf = (release: Release, pod: Pod) =>
  policiesAround(release, pod).filter(policy => isThereBefore(policy, pod.owner))

/** Policies that may exist from the previous release. */
const policiesAround = (release: Release, { labels }: Pod) =>
  ofKind(release, 'NetworkPolicy').filter(({ spec }) => selects(labels, spec.podSelector))

function isThereBefore(object: Manifest, owner: Manifest): boolean {
  const [mine = '', theirs = ''] = [object, owner].map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
  const [early = 0, late = 0] = [object, owner].map(({ metadata }) =>
    Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0),
  )
  return !theirs.startsWith('pre-') || (mine === theirs && early < late)
}

/** Whether a rule admits a pod of the release at a port, or without `peer` anything outside. */
function allows(
  rules: readonly PolicyRule[],
  side: Direction,
  peer: Pod | undefined,
  isPort: (port: number | string) => boolean,
) {
  const isPeer = ({ podSelector, namespaceSelector, ipBlock }: Peer) =>
    peer
      ? !ipBlock && !namespaceSelector && podSelector !== undefined && selects(peer.labels, podSelector)
      : ipBlock !== undefined || namespaceSelector !== undefined
  return rules.some(rule => {
    const peers = rule[side]
    const ports = rule.ports
    return (!peers || peers.some(isPeer)) && (!ports || ports.some(({ port }) => isPort(port)))
  })
}

const rulesOf = (policies: readonly Manifest[], direction: 'ingress' | 'egress') =>
  policies.flatMap(({ spec }) => spec[direction] ?? [])

/**
 * Requires that a pod can reach every address in its settings: by policies of both ends for services, by its own policy
 * for outside addresses. Tasks have the settings of their service but call no other, which may not be upgraded yet.
 */
function policiesLetCallsThrough(release: Release): string[] {
  if (ofKind(release, 'NetworkPolicy').length === 0) return []
  return release.pods.flatMap(pod => {
    const out = rulesOf(policiesOf(release, pod), 'egress')
    const environment = Object.entries(environmentOf(pod, release.secrets))
    const calls = environment.flatMap(([variable, value]) => {
      const address = /^dns:\/\/\/([^.]+)\.[^:]+:(\d+)$/.exec(value) ?? /^http:\/\/([\w-]+):(\d+)$/.exec(value)
      if (!/_ADDRESS$|^URL$/.test(variable) || !address || pod.owner.kind === 'Job') return []
      return callFaults(release, pod, out, variable, address[1]!, Number(address[2]))
    })
    const stores = environment.flatMap(([variable, value]) =>
      outsidePorts(variable, value)
        .filter(port => !allows(out, 'to', undefined, allowed => allowed === port))
        .map(port => `${pod.name} may not reach ${variable} at port ${port}`),
    )
    return [...calls, ...stores]
  })
}

function callFaults(
  release: Release,
  pod: Pod,
  out: PolicyRule[],
  variable: string,
  host: string,
  port: number,
): string[] {
  const service = ofKind(release, 'Service').find(({ metadata }) => metadata.name === host)
  const target = service && podsBehind(release, service)[0]
  const servicePort = service?.spec.ports?.find(candidate => candidate.port === port)
  if (!target || !servicePort) return [`${pod.name} has ${variable} at ${host}:${port}, where nothing listens`]
  const named = target.container.ports?.find(({ name }) => name === servicePort.targetPort)
  const isPort = (allowed: number | string) => allowed === named?.containerPort || allowed === named?.name
  const mayLeave = allows(out, 'to', target, isPort)
  const mayEnter = allows(rulesOf(policiesOf(release, target), 'ingress'), 'from', pod, isPort)
  return mayLeave && mayEnter ? [] : [`${pod.name} may not ${mayLeave ? 'enter' : 'leave for'} ${host}`]
}

const DEFAULT_PORTS: Record<string, number> = {
  'mongodb:': 27017,
  'redis:': 6379,
  'rediss:': 6379,
  'http:': 80,
  'https:': 443,
}

function outsidePorts(variable: string, value: string): number[] {
  if (/^(KAFKA_BROKERS|TENANT_SERVERS)$/.test(variable)) {
    return [...value.matchAll(/[\w.\]]:(\d+)/g)].map(([, port]) => Number(port))
  }
  const isAddress = /^(MONGODB|REDIS_\w+|MAILGUN_\w+|(\w+_)?SMTP)_URL$|^OTEL_EXPORTER_OTLP_ENDPOINT$/.test(variable)
  if (!isAddress) return []
  const { protocol, port } = new URL(value)
  return [port ? Number(port) : (DEFAULT_PORTS[protocol] ?? Number.NaN)]
}

function policiesCoverEveryPod(release: Release): string[] {
  if (ofKind(release, 'NetworkPolicy').length === 0) return []
  return release.pods.flatMap(pod => {
    const policies = policiesOf(release, pod)
    const denied = policiesAround(release, pod).some(
      ({ spec }) => spec.ingress === undefined && spec.egress === undefined,
    )
    const resolves = allows(rulesOf(policies, 'egress'), 'to', undefined, port => port === 53)
    return [
      ...(denied ? [] : [`${pod.name} is not under the default deny`]),
      ...(resolves ? [] : [`${pod.name} cannot resolve names`]),
    ]
  })
}

function alertsKeepToTheRelease(release: Release): string[] {
  const components = ofKind(release, 'Deployment').map(({ metadata }) => metadata.labels['app.kubernetes.io/component'])
  return ofKind(release, 'PrometheusRule').flatMap(({ spec }) => {
    const queries = (spec.groups ?? []).flatMap(({ rules }) => rules.map(({ expr }) => expr))
    const isMissed = (component = '') => queries.some(query => query.includes(`service="${component}"`))
    return [
      ...queries.filter(query => /\$\w/.test(query)).map(query => `an alert is not filled in: ${query}`),
      ...components.filter(component => !isMissed(component)).map(component => `nobody misses ${component}`),
    ]
  })
}
