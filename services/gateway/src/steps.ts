import type { Exchange } from './exchange.ts'

/** Part of the work on an exchange. It answers the exchange under a type that names what the step has found out. */
export type Step<In, Out> = (exchange: In) => Promise<Out> | Out

/** Steps in an order that the compiler checks: each takes the exchange as the steps before it leave it. */
export type Steps<Current> = {
  /** Adds a step. */
  step<Next>(step: Step<Current, Next>): Steps<Next>
  /** Adds a step that finds out nothing for those after it. */
  check(step: Step<Current, void>): Steps<Current>
  /** Runs the steps, until one throws or the client is gone. */
  run(exchange: Exchange): Promise<void>
}

/** Begins a list of steps with an exchange as it arrives. */
export function startSteps(): Steps<Exchange> {
  return stepsOf([])
}

/** Every step answers the object that it got, so `run` hands the same one to all of them. */
function stepsOf<Current>(list: readonly Step<never, unknown>[]): Steps<Current> {
  return {
    step: step => stepsOf([...list, step]),
    check: step => stepsOf([...list, step]),
    async run(exchange) {
      for (const step of list) {
        const pending = step(exchange as never)
        if (pending instanceof Promise) await pending
        if (exchange.isAborted) return
      }
    },
  }
}
