import type { BulkJob, CallName, ContactsChange } from '@rollcall/sdk'

/** What people enter for an action. */
export type Values = { tags: string[]; lists: string[]; attribute: string | null; value: unknown; reason: string }
/** What people have entered at the start. */
export const NO_VALUES: Values = { tags: [], lists: [], attribute: null, value: undefined, reason: '' }

type Action = {
  /** The calls whose permissions it takes. */
  calls: readonly CallName[]
  /** What has to be entered; without any, the review comes at once. */
  input?: 'tags' | 'lists' | 'attribute' | 'reason'
  /** Whether nothing necessary is missing. */
  isReady: (values: Values) => boolean
  /** Returns the change; a deletion has none. */
  changeOf?: (values: Values) => ContactsChange
  isDangerous?: true
}

const CHANGE: readonly CallName[] = ['bulk.changeContacts']
const hasTags = ({ tags }: Values) => tags.length > 0
const hasLists = ({ lists }: Values) => lists.length > 0
const always = () => true

/** What can be done with the contacts that are selected. */
export const ACTIONS = {
  addTags: { calls: CHANGE, input: 'tags', isReady: hasTags, changeOf: ({ tags }) => ({ addTags: tags }) },
  removeTags: { calls: CHANGE, input: 'tags', isReady: hasTags, changeOf: ({ tags }) => ({ removeTags: tags }) },
  addToLists: {
    calls: [...CHANGE, 'lists.addMembers'],
    input: 'lists',
    isReady: hasLists,
    changeOf: ({ lists }) => ({ addToLists: lists }),
  },
  removeFromLists: {
    calls: [...CHANGE, 'lists.removeMembers'],
    input: 'lists',
    isReady: hasLists,
    changeOf: ({ lists }) => ({ removeFromLists: lists }),
  },
  setAttribute: {
    calls: [...CHANGE, 'attributes.list'],
    input: 'attribute',
    isReady: ({ attribute }) => attribute !== null,
    changeOf: ({ attribute, value }) => ({ attributes: { [attribute!]: value ?? null } }),
  },
  unsubscribe: { calls: CHANGE, isReady: always, changeOf: () => ({ unsubscribed: true }), isDangerous: true },
  block: {
    calls: CHANGE,
    input: 'reason',
    isReady: always,
    changeOf: ({ reason }) => ({ blocked: true, ...(reason.trim() && { blockedReason: reason.trim() }) }),
    isDangerous: true,
  },
  unblock: { calls: CHANGE, isReady: always, changeOf: () => ({ blocked: false }) },
  delete: { calls: ['bulk.deleteContacts'], isReady: always, isDangerous: true },
} as const satisfies Record<string, Action>

export type ActionName = keyof typeof ACTIONS

/** Returns an action by its name. */
export function actionOf(name: ActionName): Action {
  return ACTIONS[name]
}

/** Returns the calls whose permissions it takes to start a job, and so to cancel and undo it. */
export function callsOf({ kind, change }: Pick<BulkJob, 'kind' | 'change'>): readonly CallName[] {
  return CALLS[kind] ?? changeCalls((change ?? {}) as ContactsChange)
}

/** The calls of jobs that are no changes; an undo also takes those of the job that it undoes. */
const CALLS: Partial<Record<string, readonly CallName[]>> = {
  undo: ['bulk.undoJob'],
  delete: ACTIONS.delete.calls,
  add_to_list: ['lists.addMembers'],
  remove_from_list: ['lists.removeMembers'],
  erase: ['contacts.create', 'contacts.delete'],
}

function changeCalls({ addToLists = [], removeFromLists = [] }: ContactsChange): readonly CallName[] {
  return [
    ...CHANGE,
    ...(addToLists.length > 0 ? (['lists.addMembers'] as const) : []),
    ...(removeFromLists.length > 0 ? (['lists.removeMembers'] as const) : []),
  ]
}
