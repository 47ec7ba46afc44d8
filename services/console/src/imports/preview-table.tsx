import { Table, Text } from '@mantine/core'
import type { ImportResultFieldChange, ImportResultRowPreview } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { FieldChange } from '../contacts/field-change.tsx'
import { StatusChip } from '../kit/status-chip.tsx'
import classes from './imports.module.css'

/** What the first rows would create or change, field by field. */
export function PreviewTable({ rows }: { rows: readonly ImportResultRowPreview[] }) {
  const { t } = useTranslation()
  return (
    <Table.ScrollContainer minWidth={0} type="native" className={`${classes.table} rc-stack`}>
      <Table>
        <Table.Tbody>
          {rows.map(({ row, email, outcome, changes }) => (
            <Table.Tr key={row}>
              <Table.Td w={250} valign="top">
                <Text fw={550} size="sm">
                  {email}
                </Text>
                <Text size="xs" c="dimmed">
                  {t('imports.row', { row })}
                </Text>
              </Table.Td>
              <Table.Td w={110} valign="top">
                <StatusChip tone={outcome === 'created' ? 'good' : 'info'}>
                  {t(`imports.outcomes.${outcome}`)}
                </StatusChip>
              </Table.Td>
              <Table.Td data-wide>
                <div className={classes.changes}>
                  {changes.filter(isTelling).map(change => (
                    <FieldChange key={change.field} {...change} />
                  ))}
                </div>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** A new contact has no value in most fields; that says nothing. */
function isTelling({ field, from, to }: ImportResultFieldChange): boolean {
  const isBlank = (value: unknown) => value === null || value === false || (Array.isArray(value) && value.length === 0)
  return field !== 'email' && !(isBlank(from) && isBlank(to))
}
