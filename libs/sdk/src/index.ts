export type {
  BodyField,
  Filter,
  KeyedOptions,
  List,
  ListQuery,
  Page,
  RequestOptions,
  Route,
  Sort,
  UploadFile,
  UploadOptions,
} from './call.ts'
export { type Client, createClient } from './client.ts'
export * from './errors.ts'
export type { Events, EventType } from './gen/events.ts'
export { fields } from './gen/fields.ts'
export { type CallName, routes } from './gen/routes.ts'
export type * from './gen/types.ts'
export type { Attempt, ClientOptions } from './send.ts'
export type { WaitOptions } from './wait.ts'
