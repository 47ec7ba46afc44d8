import { useMemo, useSyncExternalStore } from 'react'
import { rollcall } from '../api.ts'
import { useMe } from '../session.ts'
import { type ImportDraft, readDraft } from './draft.ts'

const STORED_AS = 'rollcall.import'
const listeners = new Set<() => void>()

/** Keeps a draft for this tab, or forgets the last one. */
export function keepDraft(draft: ImportDraft | undefined): void {
  if (draft) sessionStorage.setItem(STORED_AS, JSON.stringify(draft))
  else sessionStorage.removeItem(STORED_AS)
  for (const onChange of listeners) onChange()
}

/** Returns the draft of this tab, which a reload keeps. */
export function useImportDraft(): ImportDraft | undefined {
  const { user } = useMe()
  const text = useSyncExternalStore(subscribe, () => sessionStorage.getItem(STORED_AS))
  return useMemo(() => readDraft(text, user._id, new Date()), [text, user._id])
}

function subscribe(onChange: () => void): () => void {
  listeners.add(onChange)
  return () => listeners.delete(onChange)
}

/** Starts the import of a draft, or its dry run. Returns the id of the job. */
export async function startDraft({ upload, mapping, options }: ImportDraft, dryRun: boolean): Promise<string> {
  const { jobId } = await rollcall.imports.start({ importId: upload.importId, mapping, ...options, dryRun })
  return jobId
}
