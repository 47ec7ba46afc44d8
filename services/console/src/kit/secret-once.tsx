import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useTranslation } from 'react-i18next'
import { CodeBlock } from './code-block.tsx'
import { Copyable } from './copyable.tsx'
import { saveFile } from './save-file.ts'
import classes from './secret-once.module.css'
import { useUnsaved } from './use-unsaved.tsx'

/** Shows a secret that is never shown again, and asks before anything but its button closes it. */
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
  const leave = useShownOnce()
  return (
    <Modal opened onClose={() => void leave(onClose)} title={title} withCloseButton={false} size="lg">
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
      </Stack>
    </Modal>
  )
}

/** Asks before something is lost that is shown this once. Returns a function that closes it in another way, asking too. */
export function useShownOnce(): (leave: () => void) => Promise<void> {
  const { t } = useTranslation()
  return useUnsaved(() => true, {
    title: t('kit.secret.leave'),
    text: t('kit.secret.leaveText'),
    leave: t('kit.secret.close'),
    stay: t('kit.secret.stay'),
  })
}
