export { AppError, type ErrorCode, type ErrorDetails, isErrorCode, toAppError } from './errors.ts'
