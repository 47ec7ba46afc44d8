import { useHotkeys } from '@mantine/hooks'
import type { CallName } from '@rollcall/sdk'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useRefusal } from './action.tsx'
import type { ListSearch } from './list-search.ts'

/** Whether a screen shows its form for a new record: `?new=true`, which the key `n` sets too. */
export function useCreating(call: CallName): { isCreating: boolean; open: () => void; close: () => void } {
  const refusal = useRefusal()(call)
  const search = useSearch({ strict: false }) as ListSearch
  const navigate = useNavigate()
  const { history } = useRouter()
  const set = (isOn: boolean) =>
    void navigate({
      to: '.',
      search: ({ new: _, ...rest }: ListSearch) => (isOn ? { ...rest, new: true as const } : rest),
      replace: true,
      resetScroll: false,
      ignoreBlocker: true, // the form itself has asked
    })
  const open = () => {
    if (!refusal) set(true)
  }
  const close = () => {
    set(false)
    history.flush() // else a navigation to the new record joins it, and Back opens the form again
  }
  useCreateKey(call, open)
  return { isCreating: search.new === true && !refusal, open, close }
}

/** Begins a new record by the key `n`, for people who may make the call. */
export function useCreateKey(call: CallName, begin: () => void): void {
  const refusal = useRefusal()(call)
  useHotkeys([['n', () => !refusal && begin()]])
}
