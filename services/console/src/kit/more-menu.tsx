import { ActionIcon, Menu } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** What else can be done with a record. */
export function MoreMenu({
  name,
  children,
  variant = 'subtle',
}: {
  name: string
  children: ReactNode
  variant?: 'subtle' | 'default'
}) {
  const { t } = useTranslation()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon
          variant={variant}
          color="gray"
          size={variant === 'default' ? 32 : 'md'}
          aria-label={t('kit.more', { name })}
        >
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
