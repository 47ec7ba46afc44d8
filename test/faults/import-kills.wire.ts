import { LOCALHOST } from '@rollcall/local'
import type { ApplyBatchRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { type AssertionKeys, type Call, connect, type Handlers, type RpcServer, serve } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'

/** What is done at a batch on its way: `pass` sends it on, and answers when the audience has answered. */
export type AtBatch = <T>(batch: { jobId: string; number: number }, pass: () => Promise<T>) => Promise<T>

/** What the wire does to batches besides. */
export type Variant = { name: string; change(request: ApplyBatchRequest): ApplyBatchRequest }

/** The wire as it is. */
export const asItIs: Variant = { name: 'import', change: request => request }

let fresh = 0

/** Takes away what a batch is known by: the audience applies one that is sent again as if it were new. */
export const withoutRecord: Variant = {
  name: 'import without a record of batches',
  change: request => ({ ...request, number: 1_000_000 + ++fresh }),
}

export type WireOptions = {
  port: number
  /** The audience. */
  target: string
  assertionKeys: AssertionKeys
  atBatch: AtBatch
  variant: Variant
}

/**
 * Stands between import and audience and passes on what imports ask of it, so that a fault can come at any point of a batch: before
 * it arrives, while it is applied, after it was applied and before that is known.
 */
export async function startWire(options: WireOptions): Promise<{ stop(): Promise<void> }> {
  const { port, target, assertionKeys, atBatch, variant } = options
  const audience = connect({ address: target, assertionKeys, deadlineMs: 30_000 })
  const [batches, attributes] = [
    audience.client('rollcall.audience.v1.Batches'),
    audience.client('rollcall.audience.v1.Attributes'),
  ]
  const batchHandlers: Handlers<'rollcall.audience.v1.Batches'> = {
    applyBatch: (request, call) => atBatch(request, () => batches.applyBatch(variant.change(request), contextOf(call))),
    undoBatch: (request, call) => atBatch(request, () => batches.undoBatch(request, contextOf(call))),
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
    assertionKeys,
    logger: createLogger({ service: 'wire', level: 'fatal' }),
  })
  return {
    async stop() {
      await server.stop()
      audience.close()
    },
  }
}

function unasked(): never {
  throw new Error('imports ask for no more of attributes than what they are')
}

function contextOf({ caller, deadline, signal, requestId }: Call) {
  return { caller, deadline, signal, requestId }
}
