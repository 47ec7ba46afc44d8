import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from './code-block.tsx'
import { Copyable } from './copyable.tsx'
import { saveFile } from './save-file.ts'
import classes from './secret-once.module.css'

/** Shows a secret that is never shown again. One Escape does not lose it, and the tab asks before it goes. */
export function SecretOnce({
  secret,
  title,
  text,
  what,
  variable,
  examples,
  onClose,
}: {
  secret: string
  title: string
  text: string
  /** What the secret is, for the button that copies it. */
  what: string
  /** Its name in the file that can be downloaded. */
  variable: string
  /** What one does with the secret. */
  examples: readonly { title: string; code: string }[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [isLeaving, setLeaving] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return (
    <Modal
      opened
      onClose={() => setLeaving(true)}
      title={title}
      closeOnClickOutside={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack gap="md">
        <Text size="md">{text}</Text>
        <div className={classes.secret}>
          <Copyable value={secret} what={what} mono />
        </div>
        {examples.map(example => (
          <div key={example.title}>
            <Text size="sm" fw={550} mb={4}>
              {example.title}
            </Text>
            <CodeBlock text={example.code} what={example.title} />
          </div>
        ))}
        {isLeaving ? (
          <Alert color="orange" role="alert" title={t('kit.secret.leave')}>
            <Text size="sm">{t('kit.secret.leaveText')}</Text>
            <Group gap="xs" mt="sm">
              <Button variant="default" onClick={() => setLeaving(false)}>
                {t('kit.secret.stay')}
              </Button>
              <Button color="red" onClick={onClose}>
                {t('kit.secret.close')}
              </Button>
            </Group>
          </Alert>
        ) : (
          <Group justify="space-between">
            <Button
              variant="default"
              leftSection={<DownloadIcon />}
              onClick={() => saveFile(new Blob([`${variable}=${secret}\n`]), '.env')}
            >
              {t('kit.secret.env')}
            </Button>
            <Button onClick={onClose}>{t('kit.secret.done')}</Button>
          </Group>
        )}
      </Stack>
    </Modal>
  )
}
