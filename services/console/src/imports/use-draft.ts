import { useState } from 'react'
import { rollcall } from '../api.ts'
import { useMe } from '../session.ts'
import { type ImportDraft, readDraft } from './draft.ts'

const STORED_AS = 'rollcall.import'

/** Keeps a draft for this tab, or forgets the last one. */
export function keepDraft(draft: ImportDraft | undefined): void {
  if (draft) sessionStorage.setItem(STORED_AS, JSON.stringify(draft))
  else sessionStorage.removeItem(STORED_AS)
}

/** Returns the draft of this tab, which a reload keeps, and a function that changes it. */
export function useImportDraft(): [ImportDraft | undefined, (draft: ImportDraft) => void] {
  const { user } = useMe()
  const [draft, setDraft] = useState(() => readDraft(sessionStorage.getItem(STORED_AS), user._id, new Date()))
  return [
    draft,
    changed => {
      setDraft(changed)
      keepDraft(changed)
    },
  ]
}

/** Starts the import of a draft, or its dry run. Returns the id of the job. */
export async function startDraft({ upload, mapping, options }: ImportDraft, dryRun: boolean): Promise<string> {
  const { jobId } = await rollcall.imports.start({ importId: upload.importId, mapping, ...options, dryRun })
  return jobId
}
