import { parentPort, workerData } from 'node:worker_threads'
import { createBounceAddresses } from './bounce-address.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './bounce-listener.ts'
import { startBounceServer } from './bounce-server.ts'

// The thread of the server for bounces; see `startBounceListener`.

const { keys, ...settings } = workerData as WorkerSettings
const post = (message: FromWorker) => parentPort!.postMessage(message)
const waiting = new Map<number, PromiseWithResolvers<void>>()
let lastId = 0

const server = await startBounceServer({
  ...settings,
  addresses: createBounceAddresses(keys),
  take(message, report) {
    const answer = Promise.withResolvers<void>()
    waiting.set(++lastId, answer)
    post({ kind: 'report', id: lastId, message, report })
    return answer.promise
  },
  count: outcome => post({ kind: 'count', outcome }),
})

parentPort!.on('message', async (message: ToWorker) => {
  if (message.kind === 'stop') {
    await server.stop()
    return parentPort!.close()
  }
  const answer = waiting.get(message.id)
  waiting.delete(message.id)
  if (message.isTaken) answer?.resolve()
  else answer?.reject(new Error('not taken'))
})
post({ kind: 'listening', port: server.port })
