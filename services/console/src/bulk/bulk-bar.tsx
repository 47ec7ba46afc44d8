import { Button, Menu, Paper, Text, UnstyledButton } from '@mantine/core'
import {
  BellSlashIcon,
  BlockedIcon,
  CheckCircleIcon,
  DownloadIcon,
  type Icon,
  ListUnorderedIcon,
  PencilIcon,
  TagIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { useReports } from '../kit/problem.ts'
import { saveFile } from '../kit/save-file.ts'
import { type ActionName, actionOf } from './action.ts'
import classes from './bulk.module.css'
import { filterOf, MAX_IDS } from './selection.ts'
import type { Selected } from './use-selection.ts'

const BulkSheet = lazy(async () => ({ default: (await import('./bulk-sheet.tsx')).BulkSheet }))

/** The actions of the menu, in groups. */
const MENU: readonly (readonly { name: ActionName; icon: Icon }[])[] = [
  [
    { name: 'removeTags', icon: TagIcon },
    { name: 'removeFromLists', icon: ListUnorderedIcon },
    { name: 'setAttribute', icon: PencilIcon },
  ],
  [
    { name: 'unsubscribe', icon: BellSlashIcon },
    { name: 'block', icon: BlockedIcon },
    { name: 'unblock', icon: CheckCircleIcon },
  ],
]

/** What can be done with the contacts that are selected. */
export function BulkBar({ selected }: { selected: Selected }) {
  const { t, i18n } = useTranslation()
  const [action, setAction] = useState<ActionName>()
  const { count, matching, isAll, selectAll, clear, selection } = selected
  const number = count.toLocaleString(i18n.language)
  const label = t(isAll ? 'bulk.allSelected' : 'bulk.selected', { count, number })
  return (
    <>
      {count > 0 && (
        <Paper className={classes.bar} shadow="md" role="region" aria-label={label}>
          <Text className={classes.count} role="status">
            {label}
          </Text>
          {matching !== undefined && (
            <UnstyledButton className={classes.selectAll} onClick={selectAll}>
              {t('bulk.selectAll', { number: matching.toLocaleString(i18n.language) })}
            </UnstyledButton>
          )}
          {(['addTags', 'addToLists'] as const).map(name => (
            <Action key={name} call={actionOf(name).calls} variant="default" onClick={() => setAction(name)}>
              {t(`bulk.actions.${name}`)}
            </Action>
          ))}
          <MoreActions selected={selected} label={t('bulk.more')} onChoose={setAction} />
          <Button variant="subtle" color="gray" onClick={clear}>
            {t('bulk.clear')}
          </Button>
        </Paper>
      )}
      <Suspense>
        {action && (
          <BulkSheet
            action={action}
            selection={selection}
            count={count}
            onClose={() => setAction(undefined)}
            onStarted={clear}
          />
        )}
      </Suspense>
    </>
  )
}

function MoreActions({
  selected: { selection },
  label,
  onChoose,
}: {
  selected: Selected
  label: string
  onChoose: (name: ActionName) => void
}) {
  const { t } = useTranslation()
  const { failed } = useReports()
  const filter = filterOf(selection)
  const download = async () => {
    try {
      saveFile(await (await rollcall.contacts.export({ filter: filter! })).blob(), 'contacts.csv')
    } catch (error) {
      failed(error)
    }
  }
  return (
    <Menu position="top-end" width={240}>
      <Menu.Target>
        <Button variant="default" aria-label={label}>
          {t('bulk.moreActions')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {MENU.map(group => (
          <div key={group[0]!.name}>
            {group.map(({ name, icon: Icon }) => (
              <MenuAction key={name} call={actionOf(name).calls} icon={<Icon />} onClick={() => onChoose(name)}>
                {t(`bulk.actions.${name}`)}
              </MenuAction>
            ))}
            <Menu.Divider />
          </div>
        ))}
        <MenuAction
          call="contacts.export"
          icon={<DownloadIcon />}
          onClick={() => void download()}
          {...(!filter && { unless: t('bulk.tooManyToExport', { max: MAX_IDS }) })}
        >
          {t('bulk.export')}
        </MenuAction>
        <Menu.Divider />
        <MenuAction call={actionOf('delete').calls} danger icon={<TrashIcon />} onClick={() => onChoose('delete')}>
          {t('bulk.actions.delete')}
        </MenuAction>
      </Menu.Dropdown>
    </Menu>
  )
}
