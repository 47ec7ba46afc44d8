import type { Exchange } from './exchange.ts'

/** One step of handling an exchange. Returns the exchange as a type that includes the step's result. */
export type Step<In, Out> = (exchange: In) => Promise<Out> | Out

/** A chain of steps. The compiler checks their order: each needs the results of earlier ones. */
export type Steps<Current> = {
  /** Adds a step. */
  step<Next>(step: Step<Current, Next>): Steps<Next>
  /** Adds a step without a result. */
  check(step: Step<Current, void>): Steps<Current>
  /** Runs the steps until one throws or the client has left. */
  run(exchange: Exchange): Promise<void>
}

/** Starts a chain of steps. */
export function startSteps(): Steps<Exchange> {
  return stepsOf([])
}

/** Each step returns the object it got, so `run` passes the same one to all. */
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
