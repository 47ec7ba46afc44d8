export type { BackingEnvironment, BackingVariable } from './backing/backing.ts'
export { type BackingOptions, type RunningBacking, startBacking } from './backing/index.ts'
export { builtConsole } from './console.ts'
export { type Cache, cached, install, which } from './install.ts'
export { interruption } from './interruption.ts'
export { type Keys, newKeys } from './keys.ts'
export { LOCAL_ZONE, type NameServer, publishLocally, startNameServer } from './name-server.ts'
export { freePort, LOCALHOST } from './ports.ts'
export { explain, Problem } from './problem.ts'
export { SERVICES, type ServiceName } from './service-names.ts'
export {
  launchService,
  type ServiceProcess,
  type Stack,
  serviceEnvironment,
  servicePorts,
  serviceReady,
} from './services.ts'
export { type Running, supervise } from './supervise.ts'
