import { PinInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const CODE_LENGTH = 6

/** The cells of a code. Checks it once it is complete; after a refusal they are empty and have the focus. */
export function CodeInput({
  check: { mutate, isPending, isError },
}: {
  check: { mutate: (code: string) => void; isPending: boolean; isError: boolean }
}) {
  const { t } = useTranslation()
  const [refusals, setRefusals] = useState(0)
  useEffect(() => {
    if (isError) setRefusals(count => count + 1)
  }, [isError])
  return (
    <PinInput
      key={refusals} // new cells have the focus, which disabled ones lose
      length={CODE_LENGTH}
      type="number"
      oneTimeCode
      autoFocus
      size="lg"
      gap={8}
      aria-label={t('signIn.code')}
      getInputProps={index => ({ 'aria-label': t('signIn.digit', { number: index + 1 }) })}
      onComplete={mutate}
      disabled={isPending}
    />
  )
}
