import { Checkbox, Input, Skeleton, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { ChevronDownIcon, ChevronRightIcon, SearchIcon } from '@primer/octicons-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { type EventGroup, groupsOf, withTypes } from './event-groups.ts'
import { useEventTypes } from './queries.ts'
import classes from './webhooks.module.css'

type Choice = { chosen: readonly string[]; onChange: (types: string[]) => void }

/** Chooses types of events: whole groups, or single types. */
export function EventTypeTree({ chosen, onChange, error }: Choice & { error?: ReactNode }) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const { data: types, error: problem, refetch } = useEventTypes()
  if (problem) return <ProblemAlert error={problem} onRetry={refetch} />
  if (!types) return <Skeleton height={240} />
  const groups = groupsOf(types, text)
  return (
    <Stack gap="xs">
      <TextInput
        type="search"
        aria-label={t('webhooks.form.find')}
        placeholder={t('webhooks.form.find')}
        leftSection={<SearchIcon size={14} />}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
      />
      <div className={classes.tree}>
        {groups.length === 0 && (
          <Text c="dimmed" p="sm">
            {t('webhooks.form.nothing')}
          </Text>
        )}
        {groups.map(group => (
          <Group key={group.name} group={group} chosen={chosen} onChange={onChange} isSearched={text.trim() !== ''} />
        ))}
      </div>
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}

function Group({
  group: { name, types },
  chosen,
  onChange,
  isSearched,
}: Choice & { group: EventGroup; isSearched: boolean }) {
  const { t } = useTranslation()
  const all = types.map(({ type }) => type)
  const count = all.filter(type => chosen.includes(type)).length
  const isWhole = count === all.length
  const [isUnfolded, setUnfolded] = useState(count > 0 && !isWhole)
  const isOpen = isUnfolded || isSearched
  const chosenText = t('webhooks.form.chosen', { count, total: all.length })
  const Chevron = isOpen ? ChevronDownIcon : ChevronRightIcon
  return (
    <div className={classes.group}>
      <div className={classes.groupHead}>
        <Checkbox
          size="xs"
          label={<strong>{name}</strong>}
          aria-label={t('webhooks.form.group', { group: name })}
          checked={isWhole}
          indeterminate={count > 0 && !isWhole}
          onChange={() => onChange(withTypes(chosen, all, !isWhole))}
        />
        <UnstyledButton
          className={classes.fold}
          aria-label={`${t('webhooks.form.fold', { group: name })}: ${chosenText}`}
          aria-expanded={isOpen}
          onClick={() => setUnfolded(!isUnfolded)}
        >
          {chosenText}
          <Chevron size={14} />
        </UnstyledButton>
      </div>
      {isOpen && (
        <div className={classes.types}>
          {types.map(({ type, description }) => (
            <Checkbox
              key={type}
              size="xs"
              label={type}
              description={description}
              checked={chosen.includes(type)}
              onChange={({ currentTarget }) => onChange(withTypes(chosen, [type], currentTarget.checked))}
            />
          ))}
        </div>
      )}
    </div>
  )
}
