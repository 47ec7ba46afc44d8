import { execFile } from 'node:child_process'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { SERVICES } from '@rollcall/local'
import { parseAllDocuments } from 'yaml'

const run = promisify(execFile)

/** The chart. */
export const CHART = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'rollcall')

/** Release and namespace that the profiles are rendered for. */
export const RELEASE = { name: 'crm', namespace: 'people' }

export type Labels = Record<string, string>
export type LabelSelector = { matchLabels?: Labels }
export type Peer = { podSelector?: LabelSelector; namespaceSelector?: LabelSelector; ipBlock?: { cidr: string } }
export type PolicyRule = { ports?: { port: number | string; protocol: string }[]; from?: Peer[]; to?: Peer[] }
export type Probe = { httpGet?: { path: string; port: string } }

export type Container = {
  name: string
  image: string
  args?: string[]
  ports?: { name: string; containerPort: number }[]
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  lifecycle?: { preStop: { sleep: { seconds: number } } }
  securityContext?: Record<string, unknown>
  resources?: { requests?: Labels; limits?: Labels }
  volumeMounts?: { name: string; mountPath: string }[]
}

export type PodSpec = {
  containers: Container[]
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  terminationGracePeriodSeconds?: number
  securityContext?: Record<string, unknown>
  imagePullSecrets?: { name: string }[]
  volumes?: {
    name: string
    secret?: { secretName: string }
    projected?: { sources: { secret: { name: string; items: { key: string }[] } }[] }
  }[]
}

/** An object of Kubernetes; `spec` holds what any of the chart's kinds has. */
export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Labels; annotations?: Labels }
  data?: Record<string, string>
  spec: PodSpec & {
    replicas?: number
    type?: string
    clusterIP?: string
    selector?: Labels & LabelSelector
    podSelector?: LabelSelector
    template?: { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec }
    ports?: { name: string; port: number; targetPort: string }[]
    scaleTargetRef?: { kind: string; name: string }
    minReplicas?: number
    maxReplicas?: number
    ingress?: PolicyRule[]
    egress?: PolicyRule[]
    tls?: { secretName?: string }[]
    rules?: {
      http?: { paths: { backend: { service: { name: string; port: { name: string } } } }[] }
      backendRefs?: { name: string; port: number }[]
    }[]
    endpoints?: { port: string; path: string }[]
    groups?: { rules: { alert: string; expr: string }[] }[]
    /** Of a Certificate. */
    secretName?: string
    dnsNames?: string[]
    uris?: string[]
  }
}

/** The chart's own profile for production, the base of the test profile of the same name. */
export const PRODUCTION = join(CHART, 'values-production.yaml')

const digests = SERVICES.flatMap(service => ['--set', `services.${service}.image.digest=sha256:${'1'.repeat(64)}`])

function flagsOf(values: string): string[] {
  return basename(values) === 'production.yaml' ? ['-f', PRODUCTION, '-f', values, ...digests] : ['-f', values]
}

/** Renders the chart with a file of values; rejects with Helm's message if Helm rejects them. */
export async function render(helm: string, values: string, kubernetes: string, ...more: string[]): Promise<Manifest[]> {
  const named = [RELEASE.name, CHART, '--namespace', RELEASE.namespace, '--kube-version', kubernetes]
  const { stdout } = await run(helm, ['template', ...named, ...flagsOf(values), ...more], { maxBuffer: 2 ** 26 })
  return parseAllDocuments(stdout)
    .map(document => document.toJS() as Manifest | null)
    .filter(object => object !== null)
}

/** Helm's own lint, in its strict form. */
export async function lint(helm: string, values: string, kubernetes: string): Promise<void> {
  await run(helm, ['lint', '--strict', CHART, ...flagsOf(values), '--kube-version', kubernetes])
}
