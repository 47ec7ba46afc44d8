import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Copyable, CopyIconButton } from '../kit/copyable.tsx'
import { saveFile } from '../kit/save-file.ts'
import classes from './secret-once.module.css'

/** Shows a secret that is never shown again. One Escape does not lose it, and the tab asks before it goes. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { t } = useTranslation()
  const [isLeaving, setLeaving] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  const curl = `curl -H "Authorization: ${secret}" ${location.origin}/api/auth/me`
  return (
    <Modal
      opened
      onClose={() => setLeaving(true)}
      title={t('tokens.secret.title')}
      closeOnClickOutside={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack gap="md">
        <Text size="md">{t('tokens.secret.text')}</Text>
        <div className={classes.secret}>
          <Copyable value={secret} what={t('tokens.secret.token')} mono />
        </div>
        <div>
          <Text size="sm" fw={550} mb={4}>
            {t('tokens.secret.curl')}
          </Text>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Code block className={classes.code}>
              {curl}
            </Code>
            <CopyIconButton value={curl} what="curl" />
          </Group>
        </div>
        {isLeaving ? (
          <Alert color="orange" role="alert" title={t('tokens.secret.leave')}>
            <Text size="sm">{t('tokens.secret.leaveText')}</Text>
            <Group gap="xs" mt="sm">
              <Button variant="default" onClick={() => setLeaving(false)}>
                {t('tokens.secret.stay')}
              </Button>
              <Button color="red" onClick={onClose}>
                {t('tokens.secret.close')}
              </Button>
            </Group>
          </Alert>
        ) : (
          <Group justify="space-between">
            <Button
              variant="default"
              leftSection={<DownloadIcon />}
              onClick={() => saveFile(new Blob([`ROLLCALL_TOKEN=${secret}\n`]), '.env')}
            >
              {t('tokens.secret.env')}
            </Button>
            <Button onClick={onClose}>{t('tokens.secret.done')}</Button>
          </Group>
        )}
      </Stack>
    </Modal>
  )
}
