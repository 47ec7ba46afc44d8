import { badRequest, conflict, notFound } from './entry.ts'

/** Refusals of the audience context. */
export const audienceErrors = {
  'contact.not_found': notFound('contact'),
  'contact.blocked': conflict('the contact is blocked'),
  'attribute.not_found': notFound('attribute'),
  'list.not_found': notFound('list'),
  'list.archived': conflict((_: { path: string }) => 'the list is archived'),
  'segment.not_found': notFound('segment'),
  /** A field that its filter or order names is gone. */
  'segment.outdated': conflict((d: { reason: string }) => `the segment no longer applies: ${d.reason}`),
  'list.in_use': conflict((d: { campaign: string }) => `the campaign "${d.campaign}" uses the list`),
  'segment.in_use': conflict((d: { campaign: string }) => `the campaign "${d.campaign}" uses the segment`),
  'list.unknown': badRequest((d: { path: string }) => `invalid field -> ${d.path}: unknown list`),
  'bulk_job.not_found': notFound('bulk job'),
  'bulk.finished': conflict('the job has finished'),
  'bulk.unfinished': conflict('the job has not finished'),
  'bulk.undone': conflict('the job was already undone'),
  'bulk.not_undoable': conflict('a dry run, an undo or an erasure cannot be undone'),
  'bulk.not_cancellable': conflict('an erasure cannot be cancelled'),
  'bulk.too_old': conflict('a job can be undone for 7 days'),
  'segment.unknown': badRequest((d: { path: string }) => `invalid field -> ${d.path}: unknown segment`),
}
