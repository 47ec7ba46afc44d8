import { conflict, notFound } from './entry.ts'

/** Refusals of the content context. */
export const contentErrors = {
  'link.not_found': notFound('link'),
  'collection.not_found': notFound('collection'),
  'collection.has_entries': conflict(
    (d: { path: string; reason: string }) => `the collection has entries -> ${d.path}: ${d.reason}`,
  ),
  'entry.not_found': notFound('entry'),
}
