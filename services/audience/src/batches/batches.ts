import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { applyBatch } from './apply-batch.ts'

/** How imports reach the audience. */
export const batches = (context: Context): Handlers<'rollcall.audience.v1.Batches'> => ({
  applyBatch: (request, call) => applyBatch(context, request, call),
})
