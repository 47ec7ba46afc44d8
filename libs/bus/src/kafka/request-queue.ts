import { createRequire } from 'node:module'

/** The requests of a connection, as far as it is used here. */
export type RequestQueue = {
  pending: readonly unknown[]
  push(request: unknown): void
  checkPendingRequests(): void
  scheduleCheckPendingRequests(): void
}

/** The prototype that all connections of kafkajs share. */
export const requestQueue = (
  createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
).prototype

/**
 * Stops kafkajs from checking for pending requests every millisecond on every connection that has none (its issue 1556),
 * which took a third of the CPU of an idle service. A pending request still schedules its check.
 */
export function checkOnlyPending(): void {
  const { scheduleCheckPendingRequests: schedule } = requestQueue
  requestQueue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this)
  }
}
