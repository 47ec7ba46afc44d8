import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import classes from './offer-toast.module.css'

/** Says what was done, and offers what can be done next. */
export function offer({
  done,
  action,
  run,
  autoClose,
}: {
  done: string
  /** What the button says. */
  action: string
  run: () => void
  /** How long it is shown; false: until it is closed. */
  autoClose: number | false
}): void {
  const take = () => {
    notifications.hide(id)
    run()
  }
  const id = notifications.show({
    message: (
      <div className={classes.toast}>
        <span>{done}</span>
        <Button size="compact-sm" variant="default" onClick={take}>
          {action}
        </Button>
      </div>
    ),
    color: 'teal',
    role: 'status',
    withBorder: true,
    autoClose,
  })
}
