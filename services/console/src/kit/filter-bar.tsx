import { Button, Menu, UnstyledButton } from '@mantine/core'
import { FilterIcon, XIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './filter-bar.module.css'

/** A kind of condition, with the values that it can have. */
export type FilterChoice = { name: string; label: string; options: readonly { value: string; label: string }[] }
/** A condition that is set; one without a choice can only be removed. */
export type SetFilter = { name: string; label: string; text: string; onOpen?: () => void }

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
            />
          )}
          <UnstyledButton
            className={classes.remove}
            aria-label={t('kit.filter.remove', { name: label || text })}
            onClick={() => onSet(name, undefined)}
          >
            <XIcon size={14} />
          </UnstyledButton>
        </span>
      ))}
      <AddFilter choices={choices.filter(({ name }) => chips.every(chip => chip.name !== name))} onSet={onSet} />
      {more}
      {chips.length > 0 && (
        <Button variant="subtle" color="gray" onClick={onClear}>
          {t('kit.filter.clear')}
        </Button>
      )}
      {children && <div className={classes.end}>{children}</div>}
    </div>
  )
}

function AddFilter({
  choices,
  onSet,
}: {
  choices: readonly FilterChoice[]
  onSet: (name: string, value: string) => void
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
        {choices.map(({ name, label, options }) => (
          <Menu.Sub key={name} position="right-start">
            <Menu.Sub.Target>
              <Menu.Sub.Item>{label}</Menu.Sub.Item>
            </Menu.Sub.Target>
            <Menu.Sub.Dropdown className={classes.options}>
              {options.map(option => (
                <Menu.Item key={option.value} onClick={() => onSet(name, option.value)}>
                  {option.label}
                </Menu.Item>
              ))}
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
  onPick,
}: {
  choice: FilterChoice | undefined
  text: string
  onPick: (value: string) => void
}) {
  if (!choice) return <span className={classes.value}>{text}</span>
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <UnstyledButton className={classes.value}>{text}</UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={classes.options}>
        {choice.options.map(({ value, label }) => (
          <Menu.Item key={value} onClick={() => onPick(value)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
