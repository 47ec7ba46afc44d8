export { AppError, type ErrorCode, type ErrorDetails, toAppError } from '@rollcall/contract'
export { type HttpBody, json } from './http-body.ts'
