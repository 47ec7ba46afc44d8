import { Button, Menu, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { useAct } from '../kit/confirm.tsx'
import classes from './bulk-bar.module.css'
import { openListsQuery } from './queries.ts'

/** What can be done with the contacts that are selected. */
export function BulkBar({ ids, onClear }: { ids: ReadonlySet<string>; onClear: () => void }) {
  const { t } = useTranslation()
  if (ids.size === 0) return null
  return (
    <Paper className={classes.bar} shadow="md" role="region" aria-label={t('contacts.selected', { count: ids.size })}>
      <Text fw={550} role="status">
        {t('contacts.selected', { count: ids.size })}
      </Text>
      <ListMenu isAdding ids={ids} onDone={onClear} />
      <ListMenu isAdding={false} ids={ids} onDone={onClear} />
      <Button variant="subtle" color="gray" onClick={onClear}>
        {t('contacts.clearSelection')}
      </Button>
    </Paper>
  )
}

function ListMenu({ isAdding, ids, onDone }: { isAdding: boolean; ids: ReadonlySet<string>; onDone: () => void }) {
  const { t } = useTranslation()
  const act = useAct()
  const refusal = useRefusal()(isAdding ? 'lists.addMembers' : 'lists.removeMembers')
  const { data: lists = [] } = useQuery(openListsQuery)
  const run = (list: string) => {
    const contactIds = [...ids]
    let said = ''
    return act({
      run: async () => {
        if (isAdding) said = t('contacts.added', await rollcall.lists.addMembers(list, { contactIds }))
        else said = t('contacts.removed', { count: (await rollcall.lists.removeMembers(list, { contactIds })).removed })
      },
      get done() {
        return said
      },
      onDone,
    })
  }
  return (
    <Menu position="top" width={240} disabled={Boolean(refusal)}>
      <Menu.Target>
        <Button variant="default" disabled={Boolean(refusal) || lists.length === 0} title={refusal}>
          {t(isAdding ? 'contacts.addToList' : 'contacts.removeFromList')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>{t('contacts.chooseList')}</Menu.Label>
        {lists.map(({ _id, name }) => (
          <Menu.Item key={_id} onClick={() => void run(_id)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
