import { Stack } from '@mantine/core'
import type { Activity, User } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useEventWords } from '../events/use-event-words.ts'
import { LoadMore } from '../kit/load-more.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { useLoadMore } from '../kit/use-load-more.ts'
import { When } from '../kit/when.tsx'
import type en from './en.ts'

type Known = { [Kind in keyof Kinds]: `${Kind}.${keyof Kinds[Kind] & string}` }[keyof Kinds]
type Kinds = typeof en.activities

/** What happened to an account, newest first. What is no event, or reads otherwise here, has words of its own. */
export function UserActivity({ user: { _id } }: { user: User }) {
  const { t, i18n } = useTranslation()
  const { typeName } = useEventWords()
  const isKnown = (type: string): type is Known => i18n.exists(`users.activities.${type}`)
  const query = useLoadMore(['users', _id, 'activities'], (part, options) =>
    rollcall.users.listActivities(_id, part, options),
  )
  const sentence = ({ type }: Activity) => (isKnown(type) ? t(`users.activities.${type}`) : typeName(type))
  return (
    <Stack gap="md">
      <PlainTable
        label={t('users.tabs.activity')}
        query={query}
        empty={t('users.noActivity')}
        columns={[
          { name: 'type', title: t('users.event'), render: activity => <strong>{sentence(activity)}</strong> },
          { name: 'actor', title: t('users.actor'), render: ({ actor }) => actor.name },
          { name: 'at', title: t('users.at'), width: 180, render: ({ at }) => <When at={at} /> },
        ]}
      />
      <LoadMore more={query.more} />
    </Stack>
  )
}
