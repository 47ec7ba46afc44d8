import { Skeleton, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './plain-table.module.css'
import { ProblemAlert } from './problem-alert.tsx'

/** A column of a plain table; without a title it holds actions. */
export type PlainColumn<T> = {
  name: string
  title?: string
  render: (record: T) => ReactNode
  width?: number
}

/** A short table within a screen, without sorting and paging. */
export function PlainTable<T extends { _id: string }>({
  label,
  query: { data, error, refetch },
  columns,
  empty,
}: {
  /** What a screen reader calls the table. */
  label: string
  query: { data: { docs: readonly T[] } | undefined; error: Error | null; refetch: () => unknown }
  columns: readonly PlainColumn<T>[]
  /** Shown instead of a table without rows. */
  empty: string
}) {
  const { t } = useTranslation()
  if (error) return <ProblemAlert error={error} onRetry={refetch} />
  if (!data) return <Skeleton height={120} />
  if (data.docs.length === 0)
    return (
      <Text c="dimmed" className={classes.empty}>
        {empty}
      </Text>
    )
  return (
    <Table.ScrollContainer minWidth={0} type="native" className={`${classes.frame} rc-stack`}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, title, width }) => (
              <Table.Th key={name} w={width}>
                {title ?? <span className="rc-hidden">{t('kit.table.actions')}</span>}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.docs.map(record => (
            <Table.Tr key={record._id}>
              {columns.map(({ name, title, render }) => (
                <Table.Td key={name} {...(title === undefined && { ta: 'right', 'data-actions': true })}>
                  {render(record)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
