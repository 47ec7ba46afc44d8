import { Combobox, Group, Kbd, Loader, Modal, Text, TextInput, type TextInputProps, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import {
  AlertIcon,
  ClockIcon,
  GlobeIcon,
  type Icon,
  ListUnorderedIcon,
  PeopleIcon,
  PersonIcon,
  PlusIcon,
  SearchIcon,
} from '@primer/octicons-react'
import type { CallName, List } from '@rollcall/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { type ListRequest, listQueryOf } from '../kit/list-search.ts'
import { recentPages } from '../kit/recent.ts'
import { useMe, useMissing } from '../session.ts'
import { type Command, matching } from './commands.ts'
import { mayOpen, NAVIGATION } from './navigation.ts'
import classes from './palette.module.css'

type Offered = Command & { icon: Icon }
type Section = { name: 'recent' | 'go' | 'actions' | 'records'; commands: readonly Offered[] }

const PAUSE_MS = 150
const HITS = 4
const LIST = 'palette-list'

/** From this length on, records are searched. */
const SHORTEST_SEARCH = 2

/** Goes to any screen or record, and begins new records. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const { groups, isSearching, hasFailed } = useGroups(text.trim())
  const commands = groups.flatMap(group => group.commands)
  const store = useCombobox({ opened: true, onDropdownClose: onClose })
  const shown = commands.map(({ key }) => key).join(' ')
  useEffect(() => {
    store.selectFirstOption()
  }, [shown])
  const choose = (key: string) => {
    onClose()
    commands.find(command => command.key === key)?.run()
  }
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside
      withCloseButton={false}
      padding={0}
      size={600}
      centered={false}
      yOffset="12vh"
      attributes={{ content: { 'aria-label': t('shell.palette.title') } }}
      classNames={{ content: classes.content }}
    >
      <Combobox store={store} onOptionSubmit={choose} withinPortal={false}>
        <Combobox.EventsTarget withExpandedAttribute>
          <SearchInput
            variant="unstyled"
            size="md"
            data-autofocus
            autoComplete="off"
            aria-label={t('shell.palette.title')}
            placeholder={t('shell.palette.placeholder')}
            className={classes.search}
            leftSection={isSearching ? <Loader size={14} /> : <SearchIcon />}
            value={text}
            onChange={event => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options id={LIST} className={classes.options} aria-label={t('shell.palette.title')}>
          {groups.map(group => (
            <Combobox.Group key={group.name} label={t(`shell.palette.${group.name}`)}>
              {group.commands.map(({ key, label, detail, icon: Icon }) => (
                <Combobox.Option key={key} value={key} className={classes.option}>
                  <Icon size={16} />
                  <span className={classes.label}>{label}</span>
                  {detail && <span className={classes.detail}>{detail}</span>}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          ))}
          {commands.length === 0 && !hasFailed && (
            <Combobox.Empty>{isSearching ? t('shell.palette.searching') : t('kit.table.nothing')}</Combobox.Empty>
          )}
        </Combobox.Options>
        {hasFailed && (
          <div className={classes.failed} role="alert">
            <AlertIcon size={14} />
            {t('shell.palette.incomplete')}
          </div>
        )}
      </Combobox>
      <span className="rc-hidden" role="status">
        {isSearching ? '' : t('shell.palette.results', { count: commands.length })}
      </span>
      <Group className={classes.foot} gap="md" visibleFrom="xs">
        <Text size="xs" c="dimmed">
          <Kbd size="xs">{'↑'}</Kbd> <Kbd size="xs">{'↓'}</Kbd> {t('shell.palette.move')}
        </Text>
        <Text size="xs" c="dimmed">
          <Kbd size="xs">{'↵'}</Kbd> {t('shell.palette.choose')}
        </Text>
        <Text size="xs" c="dimmed">
          <Kbd size="xs">{'Esc'}</Kbd> {t('shell.palette.close')}
        </Text>
      </Group>
    </Modal>
  )
}

/** Its list is open from the start, which Mantine tells only of lists that open. */
function SearchInput(props: TextInputProps) {
  return <TextInput {...props} aria-controls={LIST} aria-expanded />
}

function useGroups(text: string): { groups: readonly Section[]; isSearching: boolean; hasFailed: boolean } {
  const screens = useScreens()
  const creations = useCreations()
  const recent = useRecent()
  const { hits, ...search } = useRecords(text)
  const groups: Section[] = [
    { name: 'recent', commands: text === '' ? recent : [] },
    { name: 'go', commands: matching(screens, text) },
    { name: 'records', commands: hits },
    { name: 'actions', commands: matching(creations, text) },
  ]
  return { groups: groups.filter(({ commands }) => commands.length > 0), ...search }
}

function useScreens(): Offered[] {
  const { t } = useTranslation()
  const missing = useMissing()
  const navigate = useNavigate()
  const areas = NAVIGATION.flatMap(group => group.areas).filter(area => mayOpen(area, missing))
  return [...areas, { name: 'account' as const, to: '/account', icon: PersonIcon }].map(({ name, to, icon }) => ({
    key: to,
    label: t(`shell.areas.${name}`),
    icon,
    run: () => void navigate({ to }),
  }))
}

function useCreations(): Offered[] {
  const { t } = useTranslation()
  const refusal = useRefusal()
  const navigate = useNavigate()
  const creations: { call: CallName; to: string; label: string }[] = [
    { call: 'contacts.create', to: '/contacts', label: t('contacts.add') },
    { call: 'imports.upload', to: '/imports/new', label: t('imports.new') },
    { call: 'lists.create', to: '/lists', label: t('lists.new') },
    { call: 'attributes.create', to: '/attributes', label: t('attributes.new') },
    { call: 'domains.create', to: '/domains', label: t('domains.add') },
    { call: 'senders.create', to: '/senders', label: t('senders.new') },
    { call: 'campaigns.create', to: '/campaigns', label: t('campaigns.create') },
    { call: 'templates.create', to: '/templates', label: t('templates.create') },
    { call: 'messages.send', to: '/messages', label: t('messages.send') },
    { call: 'suppressions.create', to: '/suppressions', label: t('suppressions.add') },
    { call: 'links.create', to: '/links', label: t('links.create') },
    { call: 'collections.create', to: '/collections', label: t('collections.create') },
    { call: 'tokens.create', to: '/tokens', label: t('tokens.create') },
    { call: 'roles.save', to: '/roles/new', label: t('roles.new') },
    { call: 'users.create', to: '/users', label: t('users.create') },
    { call: 'workspaces.create', to: '/workspaces', label: t('workspaces.create') },
    { call: 'webhooks.create', to: '/webhooks', label: t('webhooks.create') },
  ]
  return creations
    .filter(({ call }) => !refusal(call))
    .map(({ call, to, label }) => ({
      key: call,
      label,
      icon: PlusIcon,
      run: () => void navigate({ to, search: to.endsWith('/new') ? {} : { new: true } }),
    }))
}

function useRecent(): Offered[] {
  const { user } = useMe()
  const navigate = useNavigate()
  return recentPages(user._id).map(({ path, title }) => ({
    key: `recent ${path}`,
    label: title,
    icon: ClockIcon,
    run: () => void navigate({ to: path }),
  }))
}

/** Returns the records whose name or address begins with the text, and whether some could not be searched. */
function useRecords(text: string): { hits: Offered[]; isSearching: boolean; hasFailed: boolean } {
  const navigate = useNavigate()
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const contacts = useFound('contacts.list', rollcall.contacts.list, ['email', 'name'], settled)
  const lists = useFound('lists.list', rollcall.lists.list, ['name'], settled)
  const users = useFound('users.list', rollcall.users.list, ['email', 'name'], settled)
  const domains = useFound('domains.list', rollcall.domains.list, ['domain'], settled)
  const all = [contacts, lists, users, domains]
  const hit = (to: string, id: string, label: string, detail: string, icon: Icon): Offered => ({
    key: `${to} ${id}`,
    label,
    detail,
    icon,
    run: () => void navigate({ to: `${to}/$id`, params: { id } }),
  })
  return {
    isSearching: text.length >= SHORTEST_SEARCH && (settled !== text || all.some(({ isFetching }) => isFetching)),
    hasFailed: all.some(({ isError }) => isError),
    hits: [
      ...(contacts.data ?? []).map(({ _id, email, name }) => hit('/contacts', _id, email, name, PeopleIcon)),
      ...(lists.data ?? []).map(({ _id, name }) => hit('/lists', _id, name, '', ListUnorderedIcon)),
      ...(users.data ?? []).map(({ _id, name, email }) => hit('/users', _id, name, email, PersonIcon)),
      ...(domains.data ?? []).map(({ _id, domain }) => hit('/domains', _id, domain, '', GlobeIcon)),
    ],
  }
}

/** Records of one kind; not searched without the permission. */
function useFound<T>(
  call: CallName,
  list: (query: ListRequest, options: { signal: AbortSignal }) => List<T>,
  fields: readonly string[],
  text: string,
): UseQueryResult<T[]> {
  const missing = useMissing()
  return useQuery({
    queryKey: ['palette', call, text],
    queryFn: async ({ signal }) => (await list({ ...listQueryOf({ q: text }, fields), limit: HITS }, { signal })).docs,
    enabled: text.length >= SHORTEST_SEARCH && !missing(call),
  })
}
