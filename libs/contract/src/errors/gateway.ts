import { badRequest, conflict, forbidden, notFound, oauth } from './entry.ts'

const sizeOf = (bytes: number) => (bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`)

/** Refusals of the gateway itself. */
export const gatewayErrors = {
  'route.not_found': notFound('route'),
  /** An unknown path outside /api, and an invalid token of a public page. */
  'page.not_found': notFound('page'),

  'request.malformed': badRequest('malformed HTTP request'),
  'request.malformed_target': badRequest('malformed request target'),
  'request.malformed_query': badRequest('malformed percent-encoding in the query'),
  'request.malformed_json': badRequest('malformed JSON'),
  'request.malformed_form': badRequest('malformed form'),
  'request.malformed_multipart': badRequest('malformed multipart body'),
  'request.head_too_large': badRequest('request head too large'),
  'request.host_missing': badRequest('Host header is missing'),
  'request.wrong_content_type': badRequest(
    (d: { expected: 'application/json' | 'multipart/form-data' }) => `content type must be ${d.expected}`,
  ),
  'request.wrong_encoding': badRequest('content encoding is not supported'),
  'request.too_large': badRequest('body is larger than 1 MiB'),
  'request.too_deep': badRequest((d: { levels: number }) => `JSON is nested more than ${d.levels} levels deep`),
  'request.too_many_pieces': badRequest('body has too many chunks'),
  'request.too_slow': badRequest('request took too long to arrive'),
  'upload.too_slow': badRequest('upload took too long to arrive'),
  'upload.too_large': badRequest((d: { maxBytes: number }) => `file is larger than ${sizeOf(d.maxBytes)}`, {
    path: 'file',
  }),

  'access.cross_origin': forbidden('State-changing requests with a cookie must come from the same origin.'),
  'access.second_factor_required': forbidden('second factor required'),
  'token.address_refused': forbidden('This token may not be used from this address.'),

  'idempotency.invalid_key': badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters'),
  'idempotency.unfinished': conflict(
    'a request with this Idempotency-Key is still running, or ended without an answer',
  ),
  'idempotency.reused': conflict('this Idempotency-Key was used for another request'),
  'idempotency.answer_not_kept': conflict(
    (d: { isSecret: boolean }) =>
      `the request with this Idempotency-Key succeeded; its answer ${d.isSecret ? 'holds a secret' : 'is too long'} and was not kept`,
  ),

  'oauth.repeated_parameter': oauth('invalid_request', (d: { name: string }) => `repeated parameter -> ${d.name}`),
  'client.two_credentials': oauth('invalid_request', 'more than one client authentication method is used'),
  'client.malformed_authorization': oauth('invalid_client', 'malformed Authorization header'),
}
