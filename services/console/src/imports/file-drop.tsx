import { Alert, Button, FileButton, Progress, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { UploadIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRefusal } from '../kit/action.tsx'
import { useProblemText } from '../kit/problem.ts'
import classes from './imports.module.css'
import { type OnUploaded, useUpload } from './use-upload.ts'

const MAX_BYTES = 200 * 2 ** 20

/** Where a file to import is dropped or chosen. Uploads it, with its progress. */
export function FileDrop({
  text,
  onUploaded,
  isSmall = false,
}: {
  text: string
  /** What is done with the file; the zone waits for it, and shows its failure. */
  onUploaded: OnUploaded
  /** Beside other things on a screen. */
  isSmall?: boolean
}) {
  const { t } = useTranslation()
  const refusal = useRefusal()(['imports.upload', 'imports.start'])
  const problemText = useProblemText()
  const [refused, setRefused] = useState<'tooLarge' | 'several'>()
  const resetRef = useRef<() => void>(null)
  const { start, isBusy, share, error } = useUpload(onUploaded)
  const take = (files: readonly (File | null)[]) => {
    resetRef.current?.() // else the browser does not report the same file again
    const [file] = files
    if (!file) return
    const reason = files.length > 1 ? 'several' : file.size > MAX_BYTES ? 'tooLarge' : undefined
    setRefused(reason)
    if (!reason) start(file)
  }
  const problem = refused ? t(`imports.upload.${refused}`) : error && problemText(error)
  return (
    <Stack gap="sm">
      {problem && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      <Dropzone
        onDrop={take}
        activateOnClick={false}
        activateOnKeyboard={false}
        loading={isBusy}
        disabled={Boolean(refusal)}
        className={classes.drop}
        data-small={isSmall || undefined}
        tabIndex={-1}
        inputProps={{ 'aria-hidden': true, tabIndex: -1 }}
      >
        <div className={classes.dropContent}>
          <UploadIcon size={isSmall ? 20 : 28} />
          <Text fw={600} size={isSmall ? 'md' : 'lg'}>
            {text}
          </Text>
          <Text c="dimmed">{t('imports.upload.or')}</Text>
          <FileButton
            resetRef={resetRef}
            onChange={file => take([file])}
            accept=".csv,.tsv,.txt,text/csv"
            inputProps={{ 'aria-label': t('imports.upload.title') }}
          >
            {props => (
              <Button {...props} variant={isSmall ? 'default' : 'filled'} disabled={Boolean(refusal)}>
                {t('imports.upload.choose')}
              </Button>
            )}
          </FileButton>
        </div>
      </Dropzone>
      {isBusy && (
        <div>
          <Progress value={share * 100} aria-label={t('imports.steps.upload')} />
          <Text size="sm" c="dimmed" role="status">
            {t('imports.upload.uploading', { percent: Math.round(share * 100) })}
          </Text>
        </div>
      )}
    </Stack>
  )
}
