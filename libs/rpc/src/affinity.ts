import { connectivityState, experimental, type Metadata } from '@grpc/grpc-js'

/** Metadata of a call that names what its writes would conflict in: an organization. */
export const AFFINITY_KEY = 'rollcall-affinity'

const { READY, CONNECTING, TRANSIENT_FAILURE, IDLE } = connectivityState
const { createChildChannelControlHelper, LeafLoadBalancer, QueuePicker, UnavailablePicker } = experimental
type Control = experimental.ChannelControlHelper
type Balancer = experimental.LoadBalancer
type Picker = experimental.Picker
type Leaf = InstanceType<typeof LeafLoadBalancer>

const POLICY = 'rollcall_affinity'

/** The service config of a channel whose calls are balanced by this policy. */
export const affinityConfig = JSON.stringify({ loadBalancingConfig: [{ [POLICY]: {} }] })

class Config implements experimental.TypedLoadBalancingConfig {
  getLoadBalancerName = () => POLICY
  toJsonObject = () => ({ [POLICY]: {} })
  static createFromJson = () => new Config()
}

/**
 * Balances calls over the replicas of a service. Calls with the same affinity go to the same replica, chosen by rendezvous
 * hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998), so that all clients choose
 * alike and a replica that comes or goes moves only its own share. Other calls take turns.
 *
 * The transactions that write for one organization take positions in one document. Of two at once, MongoDB aborts one, which
 * is then retried; in one process they wait for each other and share commits instead.
 */
class AffinityBalancer implements Balancer {
  readonly #control: Control
  readonly #leafControl: Control
  #leaves: Leaf[] = []
  #state = IDLE
  #lastError = 'no address has been tried'
  #turn = Math.floor(Math.random() * 1000) // so that clients do not all begin with the same replica
  #isPaused = false

  constructor(control: Control) {
    this.#control = control
    this.#leafControl = createChildChannelControlHelper(control, {
      updateState: (state, _picker, error) => {
        if (error) this.#lastError = error
        if (this.#state === READY && state !== READY) control.requestReresolution()
        this.#update()
      },
    })
  }

  updateAddressList(...[endpoints, config, options, note]: Parameters<Balancer['updateAddressList']>): boolean {
    if (!(config instanceof Config)) return false
    if (!endpoints.ok) {
      if (this.#leaves.length === 0) this.#fail(endpoints.error.details)
      return true
    }
    this.#isPaused = true
    this.destroy()
    this.#leaves = endpoints.value.map(endpoint => new LeafLoadBalancer(endpoint, this.#leafControl, options, note))
    for (const leaf of this.#leaves) leaf.startConnecting()
    this.#isPaused = false
    if (this.#leaves.length === 0) this.#fail(`No addresses resolved. ${note}`)
    else this.#update()
    return true
  }

  #update(): void {
    if (this.#isPaused) return
    const states = this.#leaves.map(leaf => leaf.getConnectivityState())
    const ready = this.#leaves.filter((_, index) => states[index] === READY)
    if (ready.length > 0) this.#report(READY, this.#pickerOf(ready))
    else if (states.includes(CONNECTING)) this.#report(CONNECTING, new QueuePicker(this))
    else if (states.includes(TRANSIENT_FAILURE)) this.#fail(`No connection established. ${this.#lastError}`)
    else this.#report(IDLE, new QueuePicker(this))
    for (const leaf of this.#leaves) if (leaf.getConnectivityState() === IDLE) leaf.exitIdle()
  }

  #pickerOf(leaves: Leaf[]): Picker {
    const pickers = leaves.map(leaf => leaf.getPicker())
    const seeds = leaves.map(leaf => hash(experimental.endpointToString(leaf.getEndpoint())))
    return {
      pick: call => {
        const key = affinityOf(call.metadata)
        const chosen = key === undefined ? this.#turn++ % pickers.length : rendezvous(seeds, hash(key))
        return pickers[chosen]!.pick(call)
      },
    }
  }

  #fail(details: string): void {
    this.#report(TRANSIENT_FAILURE, new UnavailablePicker({ details }), details)
  }

  #report(state: connectivityState, picker: Picker, error: string | null = null): void {
    this.#state = state
    this.#control.updateState(state, picker, error)
  }

  exitIdle(): void {} // connected at all times, except without addresses
  resetBackoff(): void {}
  destroy(): void {
    for (const leaf of this.#leaves.splice(0)) leaf.destroy()
  }
  getTypeName = () => POLICY
}

experimental.registerLoadBalancerType(POLICY, AffinityBalancer, Config)

function affinityOf(metadata: Metadata): string | undefined {
  return metadata.get(AFFINITY_KEY)[0]?.toString()
}

/** Returns the index of the seed whose mixture with the key is the highest. */
function rendezvous(seeds: readonly number[], key: number): number {
  const weights = seeds.map(seed => mix(seed ^ key))
  return weights.indexOf(Math.max(...weights))
}

/** FNV-1a, 32 bit. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  return state
}

/** The finalizer of MurmurHash3, 32 bit. */
function mix(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35)
  return (second ^ (second >>> 16)) >>> 0
}
