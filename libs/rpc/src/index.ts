export { createSigner } from './assertion.ts'
export { type Actor, actorOf, anonymousCaller, type Caller, originOf, serviceCaller } from './caller.ts'
export { type CallContext, type Client, type Connection, type ConnectOptions, connect } from './client.ts'
export { address, isAddress, rpcConfig, rpcServerConfig, rpcSettings, type ServerConfig } from './config.ts'
export { authorize, hasPermission, requirePermission } from './guard.ts'
export { serveWithin } from './serve-within.ts'
export { type Call, type Handler, type Handlers, type RpcServer, type ServeOptions, serve } from './server.ts'
export {
  type KeySettings,
  newKeySettings,
  newSigningKey,
  readSigningKey,
  readTrust,
  type SigningKey,
  type Trust,
} from './service-keys.ts'
export type { Tls } from './tls.ts'
export { mayHaveTakenEffect, type ServiceName } from './wire.ts'
