import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parser } from '@prometheus-io/lezer-promql'
import { SERVICES, type ServiceName } from '@rollcall/local'
import { connect } from '@rollcall/rpc'
import { makeAuthority, withoutCertificates } from '@rollcall/testing/certificates'
import { parse } from 'yaml'
import { startStack, type TestStack } from '../stack.ts'
import { CHART } from './render.ts'

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }
type Panel = { id: number; title: string; type: string; targets?: { expr: string }[] }
type Dashboard = { panels: Panel[]; templating: { list: { query: string | { query: string } }[] } }

const read = (...path: string[]) => readFileSync(join(...path), 'utf8')
const { groups } = parse(read(CHART, 'files', 'alerts.yaml')) as { groups: { rules: Rule[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)
const dashboard = JSON.parse(read(CHART, 'files', 'dashboard.json')) as Dashboard
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** Labels that Prometheus adds to every metric of a pod, and Rollcall to all of its metrics. */
const LABELS_OF_ALL = ['service', 'pod', 'namespace', 'release', 'instance', 'job']

/** Metrics of kube-state-metrics that queries use, with the labels that they use. */
const OF_THE_CLUSTER: Record<string, readonly string[]> = {
  kube_pod_container_status_restarts_total: ['container'],
  kube_deployment_status_replicas_unavailable: ['deployment'],
}

/** Values that replace the variables of Grafana and the chart in queries. */
const FILLED_IN: Record<string, string> = {
  $__rate_interval: '5m',
  $scope: 'namespace="a",release="b"',
  $pods: 'namespace="a",pod=~"b-.+",container=~"c"',
  $deployments: 'namespace="a",deployment=~"b-c"',
}

/** Returns the metrics, labels and selectors of a query; throws if it is not PromQL. */
function namesOf(query: string): { metrics: string[]; labels: string[]; selectors: string[] } {
  const plain = query.replaceAll(/\$\w+/g, name => FILLED_IN[name] ?? name)
  const found = { metrics: [] as string[], labels: [] as string[], selectors: [] as string[] }
  parser.parse(plain).iterate({
    enter({ name, type, from, to }) {
      if (type.isError) throw new SyntaxError(`no PromQL at ${from}: ${query}`)
      if (name === 'Identifier') found.metrics.push(plain.slice(from, to))
      if (name === 'LabelName') found.labels.push(plain.slice(from, to))
      if (name === 'VectorSelector') found.selectors.push(plain.slice(from, to))
    },
  })
  return found
}

describe('a stack as in a cluster', () => {
  let stack: TestStack
  const directory = mkdtempSync(join(tmpdir(), 'cluster-'))
  const skipTls = withoutCertificates()
  /** Labels by the names that Prometheus keeps samples under. */
  const known = new Map<string, readonly string[]>(Object.entries(OF_THE_CLUSTER))

  const certificatesOf = (services: readonly ServiceName[]) => {
    const authority = makeAuthority(directory, 'ours')
    const folderOf = (service: ServiceName) => authority.issue(service, 'IP:127.0.0.1', service)
    return Object.fromEntries(services.map(service => [service, { RPC_TLS_DIR: folderOf(service) }]))
  }

  before(async () => {
    stack = await startStack(skipTls ? {} : { settingsOf: certificatesOf(SERVICES) })
    for (const service of SERVICES) {
      const [instance] = stack.instances(service)
      for (const metric of instance!.metrics().registry.getMetricsAsArray()) add(metric as unknown as Facts)
    }
  })
  after(() => stack?.stop())
  after(() => rmSync(directory, { recursive: true }))

  type Facts = { name: string; type: string; labelNames: string[] }
  function add({ name, type, labelNames }: Facts): void {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes) known.set(name + suffix, suffix === '_bucket' ? [...labelNames, 'le'] : labelNames)
  }

  const faultsOf = (query: string): string[] => {
    const { metrics, labels } = namesOf(query)
    const had = new Set([...LABELS_OF_ALL, ...metrics.flatMap(metric => known.get(metric) ?? [])])
    return [
      ...metrics.filter(metric => !known.has(metric)).map(metric => `nothing measures ${metric}`),
      ...labels.filter(label => !had.has(label)).map(label => `none of ${metrics} has the label ${label}`),
      ...(metrics.length > 0 ? [] : ['asks for nothing']),
    ]
  }

  it('works over mutual TLS between all of its services', { skip: skipTls }, async () => {
    for (const path of ['/api/users', '/api/audience', '/api/audience/import/jobs', '/api/emails/domains']) {
      assert.equal((await stack.owner.get(path)).status, 200, path)
    }
    const { port } = stack.instances('audience')[0]!
    const plain = connect({ address: `127.0.0.1:${port}`, trust: stack.trust('gateway') })
    await assert.rejects(plain.ready(1_000))
    plain.close()
  })

  it('has alerts and panels that name only metrics and labels there are', () => {
    assert.ok(known.size > 30 && queries.length > 15 && alerts.length > 8)
    for (const query of [...alerts.map(({ expr }) => expr), ...queries]) assert.deepEqual(faultsOf(query), [], query)
    const variables = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query))
    const asked = variables.flatMap(variable => [...variable.matchAll(/^label_values\((.*), (\w+)\)$/g)])
    assert.deepEqual(
      asked.map(([, , label]) => label),
      ['namespace', 'release', 'service'],
    )
    for (const [, query = ''] of asked) assert.deepEqual(faultsOf(query), [], query)
  })

  it('has every query ask for one release alone', () => {
    for (const query of [...alerts.map(({ expr }) => expr), ...queries]) {
      for (const selector of namesOf(query).selectors) {
        assert.match(selector, /\{namespace="[^"]+",(release="|pod=~"|deployment=~")/, query)
      }
    }
  })

  it('reports a metric or label that does not exist', () => {
    assert.deepEqual(faultsOf('rate(rollcall_gone_total[5m])'), ['nothing measures rollcall_gone_total'])
    assert.deepEqual(faultsOf('sum by (colour) (rollcall_outbox_lag_seconds)').length, 1)
    assert.throws(() => faultsOf('sum by ('), SyntaxError)
  })

  it('has all of its own metrics watched', () => {
    const asked = new Set([...alerts.map(({ expr }) => expr), ...queries].flatMap(query => namesOf(query).metrics))
    const own = [...known.keys()].filter(name => name.startsWith('rollcall_'))
    const families = new Set([...asked].map(name => name.replace(/_(bucket|sum|count)$/, '')))
    assert.deepEqual(
      own.filter(name => !families.has(name.replace(/_(bucket|sum|count)$/, ''))),
      [],
    )
  })

  it('has a paragraph in the run book for each alert', () => {
    const runBook = read(CHART, '..', '..', 'README.md')
    for (const { alert, labels, annotations } of alerts) {
      assert.match(runBook, new RegExp(`^### ${alert}\n\n\\S`, 'm'))
      assert.match(labels.severity, /^(critical|warning)$/)
      assert.ok(annotations.summary)
    }
    const described = [...runBook.matchAll(/^### (Rollcall\w+)$/gm)].map(([, name]) => name)
    assert.deepEqual(described.sort(), alerts.map(({ alert }) => alert).sort())
  })

  it('has panels with different titles', () => {
    const { panels } = dashboard
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
  })
})
