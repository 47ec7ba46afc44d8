import type { Contact } from '@rollcall/sdk'
import { useState } from 'react'
import { both, type Conditions } from '../kit/list-search.ts'
import type { ListView } from '../kit/use-list.ts'
import type { Selection } from './selection.ts'

/** The contacts of a list that are selected: by their rows, or all that match. */
export type Selected = {
  /** What is selected of the rows that are shown, and of other pages. */
  ids: ReadonlySet<string>
  change: (ids: ReadonlySet<string>) => void
  selection: Selection
  count: number
  /** How many contacts match; undefined if they cannot be selected at once now. */
  matching: number | undefined
  isAll: boolean
  selectAll: () => void
  clear: () => void
}

const NONE: ReadonlySet<string> = new Set()

/** Keeps which contacts of a list are selected. All that match are deselected once something else matches. */
export function useSelection({ request, query }: ListView<Contact>, within: Conditions = {}): Selected {
  const [rows, setRows] = useState(NONE)
  const [all, setAll] = useState<string>()
  const filter = request.filter ? both(within, request.filter as Conditions) : within
  const current = JSON.stringify(filter)
  const isAll = all === current
  const shown = query.data?.docs.map(({ _id }) => _id) ?? []
  const total = query.data?.totalDocs ?? 0
  const isPageSelected = shown.length > 0 && shown.every(id => rows.has(id))
  return {
    ids: isAll ? new Set(shown) : rows,
    change: ids => {
      setRows(ids)
      setAll(undefined)
    },
    selection: isAll ? { filter } : { contactIds: [...rows] },
    count: isAll ? total : rows.size,
    matching: !isAll && isPageSelected && total > rows.size ? total : undefined,
    isAll,
    selectAll: () => setAll(current),
    clear: () => {
      setRows(NONE)
      setAll(undefined)
    },
  }
}
