import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { AppError } from '@rollcall/contract'
import { fromServiceError, toStatus } from './wire.ts'

/** A refusal as it arrives from a service that wrote these bytes. */
function arrived(code: number, written: unknown): ServiceError {
  const metadata = new Metadata()
  metadata.set('rollcall-error-bin', Buffer.from(JSON.stringify(written)))
  return Object.assign(new Error(), { code, details: 'secret', metadata })
}

it('a refusal that names half a character can be sent', () => {
  const { details = '' } = toStatus(
    new AppError('request.invalid_field', { path: 'sort', reason: '\ud800 is not a field' }),
  )
  assert.doesNotThrow(() => encodeURI(details))
  assert.match(details, /is not a field/)
})

it('a refusal travels with its code and details', () => {
  const refusal = new AppError('role.exceeds_permissions', { excess: ['links.delete', 'users.update'] })
  const { code, metadata } = toStatus(refusal)
  const received = fromServiceError(Object.assign(new Error(), { code, details: '', metadata }) as ServiceError)
  assert.deepEqual(
    [received.code, received.details, received.message],
    [refusal.code, refusal.details, refusal.message],
  )
})

const generic = [
  [status.INVALID_ARGUMENT, 400, { error: true, message: 'invalid request' }],
  [status.UNAUTHENTICATED, 401, null],
  [status.PERMISSION_DENIED, 403, { error: true, message: 'not allowed' }],
  [status.NOT_FOUND, 404, { error: true, message: 'record not found' }],
  [status.ALREADY_EXISTS, 409, { error: true, message: 'conflict with the state of the record' }],
  [status.RESOURCE_EXHAUSTED, 429, { success: false, message: 'limit reached' }],
  [status.UNAVAILABLE, 503, { error: true, message: 'service unavailable' }],
  [status.INTERNAL, 503, { error: true, message: 'service unavailable' }],
] as const

for (const [grpcStatus, http, body] of generic) {
  it(`a code of another release becomes the general refusal of gRPC status ${status[grpcStatus]}`, () => {
    const written = { code: 'comet.collided', details: { path: 'x', secret: 'secret' } }
    const { status: answered, body: shown } = fromServiceError(arrived(grpcStatus, written))
    assert.deepEqual([answered, shown], [http, body])
  })
}

for (const [what, written] of [
  ['details of another release', { code: 'role.exceeds_permissions', details: {} }],
  ['no details', { code: 'role.exceeds_permissions' }],
  ['details that are null', { code: 'role.exceeds_permissions', details: null }],
  ['details that are a text', { code: 'role.exceeds_permissions', details: 'x' }],
  ['a code that every object has', { code: 'constructor', details: {} }],
  ['no object', 7],
  ['null', null],
] as const) {
  it(`a refusal with ${what} becomes the general one`, () => {
    assert.equal(fromServiceError(arrived(status.PERMISSION_DENIED, written)).code, 'access.refused')
  })
}
