import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyIconButton } from '../kit/copyable.tsx'
import { saveFile } from '../kit/save-file.ts'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import classes from './second-factor.module.css'

const CODES_FILE = 'rollcall-recovery-codes.txt'

/** Shows the recovery codes once. They must be said to be stored, else leaving asks. */
export function RecoveryCodes({
  codes,
  done,
  onStored,
}: {
  codes: readonly string[]
  /** What has just happened. */
  done: string
  onStored: () => void
}) {
  const { t } = useTranslation()
  const [isStored, setStored] = useState(false)
  useUnsaved(() => !isStored, {
    title: t('account.secondFactor.leaveTitle'),
    text: t('account.secondFactor.leaveText'),
    leave: t('account.secondFactor.leave'),
    stay: t('kit.secret.stay'),
  })
  const text = `${codes.join('\n')}\n`
  return (
    <Stack gap="md">
      <Text role="status">{done}</Text>
      <Text>{t('account.secondFactor.codesLead')}</Text>
      <div className={classes.codes}>
        <ul aria-label={t('account.secondFactor.codes')}>
          {codes.map(code => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyIconButton value={text} what={t('account.secondFactor.codes')} />
      </div>
      <Group>
        <Button
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), CODES_FILE)}
        >
          {t('account.secondFactor.download')}
        </Button>
      </Group>
      <Checkbox
        label={t('account.secondFactor.stored')}
        checked={isStored}
        onChange={event => setStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isStored} onClick={onStored}>
          {t('kit.done')}
        </Button>
      </Group>
    </Stack>
  )
}
