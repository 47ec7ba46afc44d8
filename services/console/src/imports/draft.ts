import type { ImportJob, ImportUpload, StartImportBody } from '@rollcall/sdk'
import { type Mapping, mappingProblem } from './mapping.ts'

export const STEPS = ['upload', 'map', 'options', 'dryRun'] as const
export type ImportStep = (typeof STEPS)[number]

/** What a start needs besides the file and its mapping. */
export type ImportOptions = Required<Pick<StartImportBody, 'duplicateStrategy' | 'emptyValues' | 'tags' | 'listIds'>>

/** An import that has not started. */
export type ImportDraft = {
  /** Who uploaded the file. */
  user: string
  fileName: string
  upload: ImportUpload
  mapping: Mapping
  options: ImportOptions
  /** Id of the last dry run. */
  dryRun?: string
}

const USUAL: ImportOptions = { duplicateStrategy: 'update', emptyValues: 'ignore', tags: [], listIds: [] }

/** Returns the draft for an uploaded file; for a corrected file with the mapping and options of its import. */
export function newDraft(
  uploaded: Pick<ImportDraft, 'user' | 'fileName' | 'upload'>,
  corrects?: ImportJob,
): ImportDraft {
  const { headers, suggestedMapping } = uploaded.upload
  if (!corrects) return { ...uploaded, mapping: suggestedMapping, options: USUAL }
  const known = Object.entries(corrects.mapping).filter(([header]) => headers.includes(header))
  const { duplicateStrategy, emptyValues, tags, listIds } = corrects
  return {
    ...uploaded,
    mapping: Object.fromEntries(known),
    options: { duplicateStrategy, emptyValues, tags, listIds } as ImportOptions,
  }
}

/** Returns a draft with another mapping or options: its dry run no longer applies. */
export function changed(
  { dryRun: _, ...draft }: ImportDraft,
  change: Partial<Pick<ImportDraft, 'mapping' | 'options'>>,
): ImportDraft {
  return { ...draft, ...change }
}

/** Reads the draft of a person; undefined if there is none, or the server no longer has its file. */
export function readDraft(text: string | null, user: string, now: Date): ImportDraft | undefined {
  const draft = text === null ? undefined : (JSON.parse(text) as ImportDraft)
  return draft?.user === user && new Date(draft.upload.expiresAt) > now ? draft : undefined
}

/** Returns the last step that a draft is ready for. */
export function furthestStep(draft: ImportDraft | undefined): ImportStep {
  if (!draft) return 'upload'
  if (mappingProblem(draft.mapping)) return 'map'
  return draft.dryRun ? 'dryRun' : 'options'
}

/** Returns the wanted step, or the last one before it that the draft is ready for. */
export function stepOf(wanted: ImportStep, draft: ImportDraft | undefined): ImportStep {
  const last = furthestStep(draft)
  return STEPS.indexOf(wanted) > STEPS.indexOf(last) ? last : wanted
}
