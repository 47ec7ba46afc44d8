import type { ServerTexts } from './translate.ts'

/** Texts of the server that read better otherwise in a form. */
export const serverTexts: ServerTexts = {
  errors: {
    'request.missing_field': 'Required: {path}',
    'request.extra_field': 'Unknown field: {path}',
    'request.empty_array': 'At least one value: {path}',
    'record.duplicate': 'Already taken: {path}',
  },
  phrases: {},
}
