import { Group, Text } from '@mantine/core'
import { PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import type { Feature } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { Section } from '../kit/section.tsx'
import { StatusChip, Tag } from '../kit/status-chip.tsx'
import { useCreating } from '../kit/use-creating.ts'
import { FeatureForm } from './feature-form.tsx'
import { featuresQuery } from './queries.ts'

/** The feature flags of the organization: their value for everyone, and what roles make of it. */
export function Features() {
  const { t } = useTranslation()
  const { isCreating, open, close } = useCreating('features.create')
  const [edited, setEdited] = useState<Feature>()
  const query = useQuery(featuresQuery)
  const stateOf = (isOn: boolean | null) => t(isOn ? 'settings.features.on' : 'settings.features.off')
  return (
    <Section
      title={t('settings.features.title')}
      lead={t('settings.features.lead')}
      action={
        <Action call="features.create" leftSection={<PlusIcon />} onClick={open}>
          {t('settings.features.new')}
        </Action>
      }
    >
      <PlainTable
        label={t('settings.features.title')}
        query={query}
        empty={t('settings.features.empty')}
        columns={[
          {
            name: 'name',
            title: t('users.feature'),
            render: ({ name, slug, description }) => (
              <>
                <strong>{name}</strong> <code>{slug}</code>
                {description && (
                  <Text c="dimmed" size="sm">
                    {description}
                  </Text>
                )}
              </>
            ),
          },
          {
            name: 'default',
            title: t('settings.features.default'),
            render: feature => (
              <StatusChip tone={feature.default ? 'good' : 'neutral'}>{stateOf(feature.default)}</StatusChip>
            ),
          },
          {
            name: 'roles',
            title: t('settings.features.roles'),
            render: ({ roles }) => (
              <Group gap={6}>
                {Object.entries(roles).map(([role, isOn]) => (
                  <Tag key={role}>{t('settings.features.ofRole', { role, state: stateOf(isOn).toLowerCase() })}</Tag>
                ))}
              </Group>
            ),
          },
          {
            name: 'actions',
            width: 60,
            render: feature => <FeatureMenu feature={feature} onEdit={() => setEdited(feature)} />,
          },
        ]}
      />
      {isCreating && <FeatureForm onClose={close} />}
      {edited && <FeatureForm feature={edited} onClose={() => setEdited(undefined)} />}
    </Section>
  )
}

function FeatureMenu({ feature: { _id, name }, onEdit }: { feature: Feature; onEdit: () => void }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  return (
    <MoreMenu name={name}>
      <MenuAction call="features.update" icon={<PencilIcon />} onClick={onEdit}>
        {t('kit.edit')}
      </MenuAction>
      <MenuAction
        call="features.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('settings.features.deleteTitle', { name }),
            text: t('settings.features.deleteText'),
            action: t('settings.features.delete'),
            run: () => rollcall.features.delete(_id),
            done: t('settings.features.deleted', { name }),
          })
        }
      >
        {t('settings.features.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
