import { Skeleton, Text } from '@mantine/core'
import type { Feature, User } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { MenuAction } from '../kit/action.tsx'
import { useAct } from '../kit/confirm.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { PlainTable } from '../kit/plain-table.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import { featuresQuery } from '../settings/queries.ts'
import { useRankRefusal } from './use-rank-refusal.ts'

/** The features of the organization with their values for one account. */
export function UserFeatures({ user }: { user: User }) {
  const { t } = useTranslation()
  const act = useAct()
  const { _id, role } = user
  const isHigher = useRankRefusal(user)
  const query = useQuery(featuresQuery)
  const values = useQuery({
    queryKey: ['users', _id, 'features'],
    queryFn: async ({ signal }) => (await rollcall.users.getFeatures(_id, { signal })) as Record<string, boolean>,
  })
  const set = ({ slug, name }: Feature, value: boolean | null) =>
    void act({
      run: () => rollcall.users.setFeatures(_id, { features: { [slug]: value } }),
      done: t('users.featureSaved', { name }),
    })
  const resolved = values.data ?? {}
  const originOf = (feature: Feature) => {
    const byRole = feature.roles[role]
    if (resolved[feature.slug] !== (byRole ?? feature.default)) return t('users.origin.own')
    return typeof byRole === 'boolean' ? t('users.origin.role', { role }) : t('users.origin.default')
  }
  if (values.error && !values.data) return <ProblemAlert error={values.error} onRetry={values.refetch} />
  if (!values.data) return <Skeleton height={120} />
  return (
    <PlainTable
      label={t('users.tabs.features')}
      query={query}
      empty={t('users.noFeatures')}
      columns={[
        {
          name: 'name',
          title: t('users.feature'),
          render: ({ name, slug }) => (
            <>
              <strong>{name}</strong>{' '}
              <Text span c="dimmed" size="sm">
                {slug}
              </Text>
            </>
          ),
        },
        {
          name: 'effective',
          title: t('users.effective'),
          render: ({ slug }) => (
            <StatusChip tone={resolved[slug] ? 'good' : 'neutral'}>
              {t(resolved[slug] ? 'users.on' : 'users.off')}
            </StatusChip>
          ),
        },
        { name: 'origin', title: t('users.origin.title'), render: feature => originOf(feature) },
        {
          name: 'actions',
          width: 60,
          render: feature => (
            <MoreMenu name={feature.name}>
              <MenuAction call="users.setFeatures" unless={isHigher} onClick={() => set(feature, true)}>
                {t('users.switchOn')}
              </MenuAction>
              <MenuAction call="users.setFeatures" unless={isHigher} onClick={() => set(feature, false)}>
                {t('users.switchOff')}
              </MenuAction>
              <MenuAction call="users.setFeatures" unless={isHigher} onClick={() => set(feature, null)}>
                {t('users.inherit')}
              </MenuAction>
            </MoreMenu>
          ),
        },
      ]}
    />
  )
}
