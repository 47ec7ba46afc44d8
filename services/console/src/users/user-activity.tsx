import type { Activity, User } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useEventWords } from '../events/use-event-words.ts'
import { PlainTable } from '../kit/plain-table.tsx'
import { When } from '../kit/when.tsx'
import type en from './en.ts'

const SHOWN = 50

type Known = { [Kind in keyof Kinds]: `${Kind}.${keyof Kinds[Kind] & string}` }[keyof Kinds]
type Kinds = typeof en.activities

/** What happened to an account, newest first. What is no event, or reads otherwise here, has words of its own. */
export function UserActivity({ user: { _id } }: { user: User }) {
  const { t, i18n } = useTranslation()
  const { typeName } = useEventWords()
  const isKnown = (type: string): type is Known => i18n.exists(`users.activities.${type}`)
  const query = useQuery({
    queryKey: ['users', _id, 'activities'],
    queryFn: async ({ signal }) => await rollcall.users.listActivities(_id, { limit: SHOWN }, { signal }),
  })
  const sentence = ({ type }: Activity) => (isKnown(type) ? t(`users.activities.${type}`) : typeName(type))
  return (
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
  )
}
