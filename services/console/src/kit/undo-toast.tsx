import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useTranslation } from 'react-i18next'
import { useAct } from './confirm.tsx'
import classes from './undo-toast.module.css'

const SHOWN_MS = 10_000

/** Returns a function that says what was done, and offers to take it back. */
export function useUndoToast(): (done: string, undo: () => Promise<unknown>) => void {
  const { t } = useTranslation()
  const act = useAct()
  return (done, undo) => {
    const takeBack = () => {
      notifications.hide(id)
      void act({ run: undo, done: t('kit.undone') })
    }
    const id = notifications.show({
      message: (
        <div className={classes.toast}>
          <span>{done}</span>
          <Button size="compact-sm" variant="default" onClick={takeBack}>
            {t('kit.undo')}
          </Button>
        </div>
      ),
      color: 'teal',
      role: 'status',
      withBorder: true,
      autoClose: SHOWN_MS,
    })
  }
}
