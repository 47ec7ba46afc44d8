import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

/** A required password, which can be shown. Warns while caps lock is on. */
export function PasswordField(props: PasswordInputProps & { autoComplete: 'current-password' | 'new-password' }) {
  const { t } = useTranslation()
  const [hasCapsLock, setCapsLock] = useState(false)
  return (
    <PasswordInput
      required
      withAsterisk={false}
      aria-invalid={Boolean(props.error)}
      onKeyUp={event => setCapsLock(event.getModifierState('CapsLock'))}
      visibilityToggleButtonProps={{ 'aria-label': t('kit.password.show'), tabIndex: 0 }}
      {...props}
      description={hasCapsLock ? t('kit.password.capsLock') : props.description}
    />
  )
}
