import { badRequest, conflict, forbidden, notFound } from './entry.ts'

/** Refusals of the content context. */
export const contentErrors = {
  'link.not_found': notFound('link'),
  'collection.not_found': notFound('collection'),
  'collection.has_entries': conflict(
    (d: { path: string; reason: string }) => `the collection has entries -> ${d.path}: ${d.reason}`,
  ),
  'entry.not_found': notFound('entry'),
  'form.not_found': notFound('form'),
  'form.no_sender': conflict('confirmation mails need a default sender that can send, set one first'),
  'form.origin_refused': forbidden('this page may not submit the form'),
  'form.too_large': badRequest('body is larger than 64 KiB'),
  'form.wrong_content_type': badRequest('content type must be application/json or application/x-www-form-urlencoded'),
  'form.malformed': badRequest('body must be a JSON object or a form'),
}
