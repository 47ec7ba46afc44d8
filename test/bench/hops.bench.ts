// P5 of the goals: calls between services for a request whose credential is cached.
import { SERVICES } from '@rollcall/local'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'
import type { Figure } from './measure.ts'

const REQUESTS = 100

/** Counts the calls that each service gets. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack()
  try {
    const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/audience', { email: 'one@example.com' }), 201)
    const before = await callsOf(stack)
    for (let count = 0; count < REQUESTS; count++) await bodyOf(stack.owner.get(`/api/audience/${id}`))
    const after = await callsOf(stack)
    const callsFor = (rpc: RegExp) => {
      const calls = [...after].filter(([method]) => rpc.test(method))
      return calls.reduce((sum, [method, count]) => sum + count - (before.get(method) ?? 0), 0) / REQUESTS
    }
    const [credential, call] = [callsFor(/resolve/i), callsFor(/getContact/i)]
    const ok = credential === 0 && call === 1
    const measured = `${credential} for a cached credential, ${call} for the call`
    return [{ name: 'P5 hops', measured, goal: '0 and 1', ok }]
  } finally {
    await stack.stop()
  }
}

/** Number of calls so far, by method. */
async function callsOf(stack: TestStack): Promise<Map<string, number>> {
  const calls = new Map<string, number>()
  for (const service of SERVICES) {
    const metric = stack.instances(service)[0]!.metrics().registry.getSingleMetric('rollcall_rpc_duration_seconds')
    for (const { labels, value, ...rest } of (await metric?.get())?.values ?? [])
      if ('metricName' in rest && rest.metricName === 'rollcall_rpc_duration_seconds_count') {
        const method = String((labels as Record<string, unknown>).rpc)
        calls.set(method, (calls.get(method) ?? 0) + value)
      }
  }
  return calls
}
