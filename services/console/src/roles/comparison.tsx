import { Select, Stack } from '@mantine/core'
import type { Permission, Role } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { ListSearch } from '../kit/list-search.ts'
import { Section } from '../kit/section.tsx'
import { useChangeSearch } from '../kit/use-list.ts'
import { type Grants, grantsOf, pairsOf } from './matrix.ts'
import { Pairs } from './pairs.tsx'
import { rolesQuery } from './queries.ts'

/** Compares a role as it stands in the matrix with another one, which the address names. */
export function Comparison({
  role,
  grants,
  permissions,
}: {
  role: Role
  grants: Grants
  permissions: readonly Permission[]
}) {
  const { t } = useTranslation()
  const { show } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const { data: roles = [] } = useQuery(rolesQuery)
  const other = roles.find(({ name }) => name === show)
  const [own, others] = [pairsOf(grants), other ? pairsOf(grantsOf(other.permissions, permissions)) : []]
  const shared = own.filter(pair => others.includes(pair)).length
  return (
    <Section title={t('roles.compare')} lead={other && t('roles.shared', { count: shared })}>
      <Stack gap="md">
        <Select
          aria-label={t('roles.compareWith')}
          placeholder={t('roles.compareWith')}
          clearable
          clearButtonProps={{ 'aria-label': t('roles.endComparison') }}
          maw={320}
          data={roles.filter(({ name }) => name !== role.name).map(({ name }) => name)}
          value={other?.name ?? null}
          onChange={name => change({ show: name ?? undefined })}
        />
        {other && (
          <>
            <Pairs
              title={t('roles.only', { name: role.name })}
              pairs={own.filter(pair => !others.includes(pair))}
              tone="good"
            />
            <Pairs
              title={t('roles.only', { name: other.name })}
              pairs={others.filter(pair => !own.includes(pair))}
              tone="info"
            />
          </>
        )}
      </Stack>
    </Section>
  )
}
