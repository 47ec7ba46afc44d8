import { useTranslation } from 'react-i18next'
import { useAct } from './confirm.tsx'
import { offer } from './offer-toast.tsx'

const SHOWN_MS = 10_000

/** Returns a function that says what was done, and offers to take it back. */
export function useUndoToast(): (done: string, undo: () => Promise<unknown>) => void {
  const { t } = useTranslation()
  const act = useAct()
  return (done, undo) =>
    offer({
      done,
      action: t('kit.undo'),
      run: () => void act({ run: undo, done: t('kit.undone') }),
      autoClose: SHOWN_MS,
    })
}
