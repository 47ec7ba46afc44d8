import { CopyIcon, TrashIcon } from '@primer/octicons-react'
import type { Campaign } from '@rollcall/sdk'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { MenuAction } from '../kit/action.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { isEditable } from './status.ts'

/** What else can be done with a campaign. */
export function CampaignMenu({
  campaign,
  variant = 'subtle',
  onDeleted,
  children,
}: {
  campaign: Pick<Campaign, '_id' | 'name' | 'status'>
  variant?: 'subtle' | 'default'
  onDeleted?: () => void
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const act = useAct()
  const confirm = useConfirm()
  const { _id, name } = campaign
  const duplicate = async () => {
    const copy = await rollcall.campaigns.duplicate(_id)
    await navigate({ to: '/campaigns/$id/edit/$step', params: { id: copy._id, step: 'content' } })
  }
  return (
    <MoreMenu name={name} variant={variant}>
      {children}
      <MenuAction
        call="campaigns.duplicate"
        icon={<CopyIcon />}
        onClick={() => void act({ run: duplicate, done: t('campaigns.duplicated', { name }) })}
      >
        {t('campaigns.duplicate')}
      </MenuAction>
      {isEditable(campaign) && (
        <MenuAction
          call="campaigns.delete"
          danger
          icon={<TrashIcon />}
          onClick={() =>
            confirm({
              title: t('campaigns.deleteTitle', { name }),
              text: t('campaigns.deleteText'),
              action: t('campaigns.delete'),
              run: () => rollcall.campaigns.delete(_id),
              done: t('campaigns.deleted', { name }),
              ...(onDeleted && { onDone: onDeleted }),
            })
          }
        >
          {t('campaigns.delete')}
        </MenuAction>
      )}
    </MoreMenu>
  )
}
