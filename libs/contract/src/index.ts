export type { ListQuery } from '@rollcall/protos/gen/types.ts'
export type { Carrier } from './carriers.ts'
export type { Checked, Input } from './check.ts'
export { type ContactLimits, contactLimits } from './contact-limits.ts'
export { parseDate } from './date.ts'
export { describeEvents, type EventDescription } from './describe-events.ts'
export { type Email, emailKeyOf, emailOf, isEmail } from './email.ts'
export {
  catalogues,
  type ErrorCode,
  type ErrorDetails,
  entryOf,
  errorCodes,
  isErrorCode,
  type RecordKind,
} from './errors/catalogue.ts'
export type { OAuthError } from './errors/entry.ts'
export { AppError, plainText, reviveError, toAppError } from './errors.ts'
export {
  checkPublished,
  checkReceived,
  contextOfEvent,
  type EventContext,
  type Events,
  type EventType,
  eventPublishers,
  isEventType,
  type Received,
  subjectKindOf,
} from './events.ts'
export { type Example, type Examples, examplesFile, readExamples } from './examples.ts'
export { isObjectId } from './formats.ts'
export { type HttpBody, json, updated } from './http-body.ts'
export { type Interval, intervalStarts, nextOf, startOf } from './intervals.ts'
export { type JsonFields, jsonFieldsOf } from './json-fields.ts'
export { type Limit, limits } from './limits.ts'
export { compileMatcher, type Match } from './match.ts'
export { generateOpenApi, type OpenApi } from './openapi.ts'
export { type LimitGroup, type RuleOption, ruleOf, type Via } from './options.ts'
export { clampLimit, clampPage } from './page.ts'
export {
  type Action,
  actionOf,
  actions,
  allows,
  isResource,
  type Permission,
  type Permissions,
  type Resource,
  resources,
} from './permissions.ts'
export { contractRoot, loadRoot, lowerFirst, servicesOf } from './root.ts'
export { acceptsIdempotencyKey, needsSecondFactor, speaksOAuth } from './route-traits.ts'
export { type Access, accessOf, contractRoutes, type RequiredScope, type Route } from './routes.ts'
