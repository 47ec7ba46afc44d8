import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { listQueryOf } from '../kit/list-search.ts'

const OFFERED = 20
const PAUSE_MS = 200

/** A choice of one account of the organization, found by the beginning of its name or email. */
export function UserSelect({
  without,
  ...props
}: {
  label: string
  /** Ids of accounts that are not offered. */
  without: readonly (string | null)[]
  value?: string | null
  onChange?: (id: string | null) => void
  error?: ReactNode
}) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const { data: users = [] } = useQuery({
    queryKey: ['users', 'choice', settled],
    queryFn: async ({ signal }) => {
      const query = { ...listQueryOf(settled ? { q: settled } : {}, ['email', 'name']), limit: OFFERED }
      return (await rollcall.users.list(query, { signal })).docs
    },
    placeholderData: before => before,
  })
  return (
    <Select
      searchable
      required
      data-autofocus
      placeholder={t('users.search')}
      nothingFoundMessage={t('kit.table.nothing')}
      data={users
        .filter(({ _id }) => !without.includes(_id))
        .map(({ _id, name, email }) => ({ value: _id, label: `${name} (${email})` }))}
      filter={({ options }) => options} // the server has done it
      onSearchChange={typed => setText(typed.includes('(') ? '' : typed)}
      {...props}
    />
  )
}
