import { notFound } from './entry.ts'

/** Refusals of the campaigns context. */
export const campaignsErrors = {
  'template.not_found': notFound('template'),
}
