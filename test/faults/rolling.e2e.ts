import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { SERVICES, type ServiceName } from '@rollcall/local'
import { pause } from '@rollcall/runtime'
import { createApi, makeToken, signIn } from '../api.ts'
import { isSoak } from '../soak.ts'
import { OWNER } from '../stack.ts'
import { type Fleet, startFleet } from './fleet.ts'

/** R4 of the goals; the soak restarts every service. */
const rolled: readonly ServiceName[] = isSoak ? SERVICES : ['audience', 'gateway']
/** Those of the services that the load comes through, and nothing else in the suite. */
const replicas = isSoak
  ? { identity: 2, audience: 2, gateway: 2 }
  : { identity: 1, audience: 2, gateway: 2, import: 0, messaging: 0 }
const clients = 6

describe('a rolling restart under load', () => {
  let fleet: Fleet
  let token: string

  before(async () => {
    fleet = await startFleet(replicas)
    const { host, port } = fleet.replicas('gateway')[0]!
    const owner = await signIn(createApi(`http://${host}:${port}`), OWNER.email, OWNER.password)
    token = (await makeToken(owner)).token
  })
  after(() => fleet?.stop())

  /** Restarts a service replica by replica, each only once its successor is ready. */
  const roll = async (service: ServiceName) => {
    for (const replica of [...fleet.replicas(service)]) {
      await fleet.add(service)
      await replica.retire()
    }
  }

  const underLoad = async (act: () => Promise<void>) => {
    const load = startLoad(fleet, token)
    try {
      await act()
      await pause(500)
    } finally {
      await load.stop()
    }
    return load
  }

  for (const service of rolled) {
    it(`of ${service} fails no request`, async () => {
      const { sent, failed } = await underLoad(() => roll(service))
      console.log(`R4  ${service.padEnd(10)} ${sent} requests, ${failed.length} failed`)
      assert.ok(sent > 50)
      assert.deepEqual(failed, [])
    })
  }

  it('fails some where one replica is just killed', async () => {
    const { failed } = await underLoad(() => fleet.replicas('gateway')[0]!.kill())
    assert.notDeepEqual(failed, [])
  })
})

/** Clients that keep their connections and send to a ready gateway, like a load balancer. */
function startLoad(fleet: Fleet, token: string): { readonly sent: number; failed: string[]; stop(): Promise<void> } {
  const agents = new Map<string, Agent>()
  const failed: string[] = []
  let sent = 0
  let isOver = false

  const send = (id: string, method: string, path: string, body?: object): Promise<number> => {
    const gateways = fleet.replicas('gateway')
    const { host, port } = gateways[sent % gateways.length]!
    const agent = agents.get(host) ?? new Agent({ keepAlive: true })
    agents.set(host, agent)
    const number = sent++
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: token,
        'content-type': 'application/json',
        'x-request-id': id,
        'x-forwarded-for': `198.51.${(number >> 8) & 255}.${number & 255}`,
      }
      const sending = request({ agent, host, port, method, path, headers }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', reject)
      })
      sending.on('error', reject)
      sending.end(body && JSON.stringify(body))
    })
  }

  const client = async (name: number) => {
    for (let count = 0; !isOver; count++) {
      const isWrite = count % 3 === 2
      const id = `roll-${name}-${count}-${performance.now()}`
      const answer = isWrite
        ? send(id, 'POST', '/api/audience', { email: `${id}@example.com` })
        : send(id, 'GET', count % 3 === 0 ? '/api/audience?$limit=1' : '/api/emails/campaigns?$limit=1')
      const outcome = await answer.catch((error: Error) => error.message)
      if (outcome !== (isWrite ? 201 : 200))
        failed.push([`${isWrite ? 'POST' : 'GET'}: ${outcome}`, ...(await fleet.logged(id))].join('\n'))
      await pause(10)
    }
  }
  const all = Promise.all(Array.from({ length: clients }, (_, name) => client(name)))
  return {
    get sent() {
      return sent
    },
    failed,
    async stop() {
      isOver = true
      await all
      for (const agent of agents.values()) agent.destroy()
    },
  }
}
