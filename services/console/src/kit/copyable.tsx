import { ActionIcon, Button, CopyButton, Group, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './copyable.module.css'

/** A value with a button that copies it and says so. */
export function Copyable({
  value,
  what,
  children,
  mono = false,
}: {
  value: string
  /** What is copied, for the button's name. */
  what: string
  children?: ReactNode
  mono?: boolean
}) {
  return (
    <Group gap={4} wrap="nowrap" className={classes.copyable}>
      <span className={mono ? classes.mono : classes.text}>{children ?? value}</span>
      <CopyIconButton value={value} what={what} />
    </Group>
  )
}

/** A button that copies a value and says so. */
export function CopyIconButton({ value, what }: { value: string; what: string }) {
  const { t } = useTranslation()
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('kit.copied', { what }) : t('kit.copy', { what })}>
          <ActionIcon
            className={classes.button}
            variant="subtle"
            color="gray"
            size={24}
            aria-label={t('kit.copy', { what })}
            onClick={copy}
          >
            {copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
            <span className="rc-hidden" role="status">
              {copied ? t('kit.copied', { what }) : ''}
            </span>
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

/** A button with words that copies a value and says so. */
export function CopyTextButton({ value, what, children }: { value: string; what: string; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          leftSection={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
          onClick={copy}
        >
          {children}
          <span className="rc-hidden" role="status">
            {copied ? t('kit.copied', { what }) : ''}
          </span>
        </Button>
      )}
    </CopyButton>
  )
}
