import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { json } from '@rollcall/contract'
import { freePort, launchService, serviceReady } from '@rollcall/local'
import { gatewayEnvironment, issueToken, StubbedServices } from '../../services/gateway/test/gateway.ts'
import { memoryOf, peakMemoryWhile } from '../bench/memory.ts'
import type { Asked, Asking, Attack, Task } from './slow-clients.child.ts'

/** An attack on a gateway. */
export type Plan = {
  attack: Attack
  asking: Asking
  /** Size of the page that the slow readers request. */
  pageBytes: number
  /** Whether to end the attack, by the growth of the gateway in bytes and the time since all clients connected. */
  settled(grownBytes: number, ms: number): boolean
}

/** Answers to other clients, and the cost for the gateway. */
export type Phase = Asked & { cpuMicrosPerRequest: number; peakBytes: number }
export type Outcome = { healthy: Phase; attacked: Phase; hasEnded: boolean }

const pollMs = 100

/**
 * Starts a gateway as a process of its own, in front of stubbed services. Sends requests, first alone and then during
 * an attack of slow clients.
 */
export async function attackGateway(
  settings: Record<string, string>,
  { attack, asking, pageBytes, settled }: Plan,
): Promise<Outcome> {
  await using after = new AsyncDisposableStack()
  const services = new StubbedServices()
  const page = json(Buffer.alloc(pageBytes, ' '))
  services.behaviours.set('listContacts', () => page)
  const logDir = await mkdtemp(join(tmpdir(), 'rollcall-slow-'))
  after.defer(() => rm(logDir, { recursive: true, force: true }))
  const [port, internalPort] = [await freePort(), await freePort()]
  const environment = await gatewayEnvironment(
    { LOG_LEVEL: 'fatal', RPC_DEADLINE_MS: '10000', ...settings, PORT: String(port) },
    services,
  )
  after.defer(async () => services.server?.stop())
  const gateway = await launchService('gateway', { environment, internalPort, logFile: join(logDir, 'gateway.log') })
  after.defer(() => gateway.stop())
  await serviceReady(gateway, internalPort)

  const at = { port, token: issueToken(services) }
  const asker = startChild()
  const attacker = startChild()
  after.defer(async () => {
    asker.stop()
    attacker.stop()
  })
  const phase = async (): Promise<Phase> => {
    const from = await cpuSeconds(internalPort)
    let asked!: Asked
    const peakBytes = await peakMemoryWhile(gateway.pid, async () => {
      asked = (await asker.run({ ...at, ask: asking })) as Asked
    })
    const cpuMicrosPerRequest =
      (((await cpuSeconds(internalPort)) - from) * 1e6) / (asked.answered + asked.failures.length)
    return { ...asked, cpuMicrosPerRequest, peakBytes }
  }
  await asker.run({ ...at, ask: { ...asking, ms: asking.ms / 2 } }) // warms up
  const healthy = await phase()
  const rampBytes = await peakMemoryWhile(gateway.pid, async () => {
    await attacker.run({ ...at, attack })
    const startedAt = performance.now()
    const grown = async () => (await memoryOf(gateway.pid)) - healthy.peakBytes
    while (!settled(await grown(), performance.now() - startedAt)) await sleep(pollMs)
  })
  const attacked = await phase()
  attacked.peakBytes = Math.max(attacked.peakBytes, rampBytes)
  return { healthy, attacked, hasEnded: gateway.exit !== undefined }
}

function startChild() {
  const child = fork(join(import.meta.dirname, 'slow-clients.child.ts'), { execArgv: [] })
  return {
    async run(task: Task): Promise<unknown> {
      child.send(task)
      const [result] = await once(child, 'message')
      return result
    },
    stop: () => void child.kill(),
  }
}

/** Measured by the gateway's own metrics. */
async function cpuSeconds(internalPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
  return Number(/^process_cpu_seconds_total\{[^}]*\} (\S+)/m.exec(text)?.[1])
}
