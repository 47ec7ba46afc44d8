export type { BackingEnvironment, BackingVariable } from './backing/backing.ts'
export { type BackingOptions, type RunningBacking, startBacking } from './backing/index.ts'
export { explain, Problem } from './problem.ts'
