import { Button, Menu, UnstyledButton } from '@mantine/core'
import { FilterIcon, XIcon } from '@primer/octicons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './filter-bar.module.css'

const TimeRange = lazy(async () => ({ default: (await import('./time-range.tsx')).TimeRange }))

/** A kind of condition, with the values that it can have. */
export type FilterChoice = {
  name: string
  label: string
  options: readonly { value: string; label: string }[]
  /** The values are times: two days can be chosen as well. */
  isTime?: boolean
  /** Takes a value instead of `onSet`: it is only part of a condition. */
  onPick?: (value: string) => void
}
/** A condition that is set; one without a choice can only be removed. */
export type SetFilter = { name: string; label: string; text: ReactNode; onOpen?: () => void }

/** Search, conditions as chips, and what stands beside them. */
export function FilterBar({
  search,
  choices,
  chips,
  onSet,
  onClear,
  more,
  children,
}: {
  search: ReactNode
  choices: readonly FilterChoice[]
  chips: readonly SetFilter[]
  onSet: (name: string, value: string | undefined) => void
  onClear: () => void
  /** What stands after the chips. */
  more?: ReactNode
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const [timed, setTimed] = useState<string>()
  return (
    <div className={classes.bar}>
      {search}
      {chips.map(({ name, label, text, onOpen }) => (
        <span key={name} className={classes.chip}>
          {label && <span className={classes.label}>{label}</span>}
          {onOpen ? (
            <UnstyledButton className={classes.value} onClick={onOpen}>
              {text}
            </UnstyledButton>
          ) : (
            <ValueMenu
              choice={choices.find(choice => choice.name === name)}
              text={text}
              onPick={value => onSet(name, value)}
              onRange={() => setTimed(name)}
            />
          )}
          <UnstyledButton
            className={classes.remove}
            aria-label={t('kit.filter.remove', { name: label || String(text) })}
            onClick={() => onSet(name, undefined)}
          >
            <XIcon size={14} />
          </UnstyledButton>
        </span>
      ))}
      <AddFilter
        choices={choices.filter(({ name }) => chips.every(chip => chip.name !== name))}
        onSet={onSet}
        onRange={setTimed}
      />
      {more}
      {chips.length > 0 && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          {t('kit.filter.clear')}
        </Button>
      )}
      {children && <div className={classes.end}>{children}</div>}
      {timed && (
        <Suspense>
          <TimeRange onPick={range => onSet(timed, range)} onClose={() => setTimed(undefined)} />
        </Suspense>
      )}
    </div>
  )
}

function AddFilter({
  choices,
  onSet,
  onRange,
}: {
  choices: readonly FilterChoice[]
  onSet: (name: string, value: string) => void
  onRange: (name: string) => void
}) {
  const { t } = useTranslation()
  if (choices.length === 0) return null
  return (
    <Menu position="bottom-start" width={200}>
      <Menu.Target>
        <Button variant="default" leftSection={<FilterIcon size={14} />}>
          {t('kit.filter.add')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(choice => (
          <Menu.Sub key={choice.name} position="right-start">
            <Menu.Sub.Target>
              <Menu.Sub.Item>{choice.label}</Menu.Sub.Item>
            </Menu.Sub.Target>
            <Menu.Sub.Dropdown className={classes.options}>
              <Options
                choice={choice}
                onPick={choice.onPick ?? (value => onSet(choice.name, value))}
                onRange={() => onRange(choice.name)}
              />
            </Menu.Sub.Dropdown>
          </Menu.Sub>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function ValueMenu({
  choice,
  text,
  ...picks
}: {
  choice: FilterChoice | undefined
  text: ReactNode
  onPick: (value: string) => void
  onRange: () => void
}) {
  if (!choice) return <span className={classes.value}>{text}</span>
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <UnstyledButton className={classes.value}>{text}</UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={classes.options}>
        <Options choice={choice} {...picks} />
      </Menu.Dropdown>
    </Menu>
  )
}

function Options({
  choice: { options, isTime },
  onPick,
  onRange,
}: {
  choice: FilterChoice
  onPick: (value: string) => void
  onRange: () => void
}) {
  const { t } = useTranslation()
  return (
    <>
      {options.map(({ value, label }) => (
        <Menu.Item key={value} onClick={() => onPick(value)}>
          {label}
        </Menu.Item>
      ))}
      {isTime && <Menu.Item onClick={onRange}>{t('kit.filter.range')}</Menu.Item>}
    </>
  )
}
