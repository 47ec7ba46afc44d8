import { LOCALHOST } from '@rollcall/local'
import type { ApplyBatchRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, connect, type Handlers, type RpcServer, serve, type Trust } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'

/** Called for each batch: `pass` forwards it, and resolves when the audience has answered. */
export type AtBatch = <T>(batch: string, pass: () => Promise<T>) => Promise<T>

/** A variant of the wire: correct, or without a necessary part. */
export type Variant = { name: string; change(request: ApplyBatchRequest): ApplyBatchRequest }

/** The correct variant. */
export const asItIs: Variant = { name: 'import', change: request => request }

const trial = 'try '
/** Whether a batch is only tried: the audience applies nothing of it. */
export const isTrial = (batch: string) => batch.startsWith(trial)

const sent = new Set<string>()
let fresh = 0
let tried = 0
const triesToAFault = 8

/** Broken: removes the identity of a batch, so that the audience applies a repeated one as new. */
export const withoutRecord: Variant = {
  name: 'import without a record of batches',
  change(request) {
    const batch = `${request.jobId} ${request.number}`
    if (request.dryRun || !sent.has(batch)) {
      if (!request.dryRun) sent.add(batch)
      return request
    }
    return { ...request, number: 1_000_000 + ++fresh }
  },
}

/** Forwards everything. */
export const nothing: Doing = { atBatch: (_, pass) => pass(), variant: asItIs }

export type WireOptions = {
  port: number
  /** Address of the audience. */
  target: string
  trust: Trust
}

/** What the wire does from now on. */
export type Doing = { atBatch: AtBatch; variant: Variant }

/**
 * Starts a proxy between import and audience, so that a fault can occur at any point of a batch: before it arrives,
 * while it is applied, or after that and before the answer.
 */
export async function startWire({ port, target, trust }: WireOptions) {
  const wire = { doing: nothing, stop }
  const audience = connect({ address: target, trust, deadlineMs: 30_000 })
  const [batches, attributes] = [
    audience.client('rollcall.audience.v1.Batches'),
    audience.client('rollcall.audience.v1.Attributes'),
  ]
  const batchHandlers: Handlers<'rollcall.audience.v1.Batches'> = {
    applyBatch: (request, call) => {
      const { atBatch, variant } = wire.doing
      const pass = () => batches.applyBatch(variant.change(request), contextOf(call))
      if (!request.dryRun) return atBatch(`apply ${request.jobId} ${request.number}`, pass)
      // A dry run is idempotent; only applied batches are killed.
      return ++tried % triesToAFault === 0 ? atBatch(`${trial}${tried}`, pass) : pass()
    },
    undoBatch: (request, call) =>
      wire.doing.atBatch(`undo ${request.jobId} ${request.number}`, () => batches.undoBatch(request, contextOf(call))),
    checkLists: (request, call) => batches.checkLists(request, contextOf(call)),
  }
  const attributeHandlers: Handlers<'rollcall.audience.v1.Attributes'> = {
    describeAttributes: (request, call) => attributes.describeAttributes(request, contextOf(call)),
    listAttributes: unasked,
    createAttribute: unasked,
    updateAttribute: unasked,
    deleteAttribute: unasked,
  }
  const server: RpcServer = await serve({
    services: {
      'rollcall.audience.v1.Batches': batchHandlers,
      'rollcall.audience.v1.Attributes': attributeHandlers,
    },
    port,
    host: LOCALHOST,
    trust,
    logger: createLogger({ service: 'wire', level: 'fatal' }),
  })
  async function stop() {
    await server.stop()
    audience.close()
  }
  return wire
}

function unasked(): never {
  throw new Error('imports ask for no more of attributes than what they are')
}

function contextOf({ caller, deadline, signal, requestId }: Call) {
  return { caller, deadline, signal, requestId }
}
