// P4 of the goals: the whole path of GET one contact beside a textbook path in as many processes. What counts is the CPU
// of all processes: gateway, service, database, Redis.
import { bodyOf } from '../api.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { cpuOf } from './cpu.ts'
import { atLeast, type Figure } from './measure.ts'
import { cpuOfStack, describeRounds, loadSides, ratioOf, type Side, serversOf, totalCost } from './side.ts'
import { startTextbook } from './textbook.ts'

const CONTACTS = 1_000

/** Measures both paths alternately. */
export async function run(): Promise<Figure[]> {
  await using cleanUp = new AsyncDisposableStack()
  const stack = await startStack({ processes: true })
  cleanUp.defer(() => stack.stop())
  const paths = await fill(stack)
  const [ours, textbook] = [await rollcall(stack, paths), await textbookPath(stack, paths, cleanUp)]
  const rounds = await loadSides(ours, textbook)
  const ratio = 1 / ratioOf(rounds, totalCost)
  const figure = atLeast('P4 GET one contact, requests per CPU second of all processes', ratio, 2)
  return [{ ...figure, measured: `${figure.measured} (${describeRounds(rounds)})` }]
}

/** Creates some contacts; returns their paths. */
async function fill({ owner }: TestStack): Promise<string[]> {
  const paths: string[] = []
  for (let index = 0; index < CONTACTS; index++) {
    const body = { email: `contact${index}@example.com`, name: `Contact ${index}`, tags: ['customer'] }
    const { id } = await bodyOf(owner.post<{ id: string }>('/api/audience', body), 201)
    paths.push(`/api/audience/${id}`)
  }
  return paths
}

async function rollcall(stack: TestStack, paths: string[]): Promise<Side> {
  const signedIn = await bodyOf(stack.api.post<{ token: string }>('/api/auth/login', OWNER))
  return {
    port: stack.instances('gateway')[0]!.port,
    paths,
    headers: { Authorization: `Bearer ${signedIn.token}` },
    cpu: await cpuOfStack(stack, ['gateway', 'audience']),
  }
}

async function textbookPath(stack: TestStack, paths: string[], cleanUp: AsyncDisposableStack): Promise<Side> {
  const name = `${stack.namespace}rollcall_audience`
  const service = await startTextbook(cleanUp, 'service', stack.backing.MONGODB_URL, name)
  const front = await startTextbook(cleanUp, 'front', String(service.port))
  const { database } = await serversOf(stack)
  return {
    port: front.port,
    paths,
    cpu: async () => ({ front: cpuOf(front.pid), service: cpuOf(service.pid), database: cpuOf(database) }),
  }
}
