export { type Checked, type Input, isEmail } from './check.ts'
export { AppError, type ErrorCode, type ErrorDetails, isErrorCode, plainText, toAppError } from './errors.ts'
export { type Limit, type LimitGroup, limits } from './limits.ts'
export { compileMatcher, type Match } from './match.ts'
export { generateOpenApi, type OpenApi } from './openapi.ts'
export {
  type Action,
  actionOf,
  actions,
  allows,
  isResource,
  type Permissions,
  type Resource,
  resources,
} from './permissions.ts'
export { loadRoot } from './root.ts'
export { type Access, compileRoutes, isRepeatable, type Route, speaksOAuth, type Via } from './routes.ts'
