import { Stack } from '@mantine/core'
import type { User, UserEmail } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { LoadMore } from '../kit/load-more.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { StatusChip, type Tone } from '../kit/status-chip.tsx'
import { useLoadMore } from '../kit/use-load-more.ts'
import { When } from '../kit/when.tsx'
import { sentence } from '../server/texts.ts'

const TONES: Record<UserEmail['status'], Tone> = {
  queued: 'neutral',
  sent: 'info',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  failed: 'bad',
}

/** The mails that were sent to an account. */
export function UserEmails({ user: { _id } }: { user: User }) {
  const { t } = useTranslation()
  const query = useLoadMore(['users', _id, 'emails'], (part, options) => rollcall.users.listEmails(_id, part, options))
  return (
    <Stack gap="md">
      <PlainTable
        label={t('users.tabs.emails')}
        query={query}
        empty={t('users.noEmails')}
        columns={[
          { name: 'subject', title: t('users.subject'), render: ({ subject }) => <strong>{subject}</strong> },
          {
            name: 'status',
            title: t('kit.field.status'),
            render: ({ status, error }) => (
              <span title={error ? sentence(error) : undefined}>
                <StatusChip tone={TONES[status]}>{t(`users.emailStatus.${status}`)}</StatusChip>
              </span>
            ),
          },
          { name: 'sent', title: t('users.sent'), width: 180, render: ({ sentAt }) => <When at={sentAt} /> },
        ]}
      />
      <LoadMore more={query.more} />
    </Stack>
  )
}
