import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Name and help of a metric. The name ends with the unit: `rollcall_rpc_duration_seconds`. */
type Described<L extends string> = { name: string; help: string; labels?: readonly L[] }

/** The metrics of one process. A second call with the same name returns the same metric. */
export type Metrics = {
  registry: Registry
  counter<L extends string = never>(metric: Described<L>): Counter<L>
  /** `collect` sets the value at each scrape. */
  gauge<L extends string = never>(
    metric: Described<L> & { collect?: (gauge: Gauge<L>) => void | Promise<void> },
  ): Gauge<L>
  /** `buckets` in the metric's unit; the default suits request durations in seconds. */
  histogram<L extends string = never>(metric: Described<L> & { buckets?: readonly number[] }): Histogram<L>
}

/** How often the lag of the event loop is sampled. The default of 10 ms is most of what an idle process does. */
const LAG_INTERVAL_MS = 200
const DURATION_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Creates the registry of a service with the process's default metrics. Every metric has the label `service`. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_INTERVAL_MS })
  addEventLoopLag(registry)

  const once = <M>(name: string, create: () => M): M => (registry.getSingleMetric(name) as M | undefined) ?? create()
  const shared = <L extends string>({ name, help, labels = [] }: Described<L>) => ({
    name,
    help,
    labelNames: labels,
    registers: [registry],
  })

  return {
    registry,
    counter: metric => once(metric.name, () => new Counter(shared(metric))),
    gauge<L extends string>(metric: Described<L> & { collect?: (gauge: Gauge<L>) => void | Promise<void> }) {
      const { collect } = metric
      const collecting = collect && {
        collect: async function collectNow(this: Gauge<L>) {
          await collect(this)
        },
      }
      return once(metric.name, () => new Gauge<L>({ ...shared(metric), ...collecting }))
    },
    histogram: metric =>
      once(metric.name, () => new Histogram({ ...shared(metric), buckets: [...(metric.buckets ?? DURATION_SECONDS)] })),
  }
}

/** Adds the lag alone: the default metrics contain the interval between two samples, 0.2 s of an idle process. */
function addEventLoopLag(registry: Registry): void {
  const interval = registry.getSingleMetric('nodejs_eventloop_lag_p99_seconds') as Gauge
  new Gauge({
    name: 'rollcall_event_loop_lag_seconds',
    help: 'Lag of the event loop since the last scrape, 99th percentile in seconds',
    registers: [registry],
    async collect() {
      const [p99] = (await interval.get()).values
      this.set(Math.max(0, (p99?.value ?? 0) - LAG_INTERVAL_MS / 1000))
    },
  })
}
