import { Menu, useMantineColorScheme } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.ts'
import classes from './appearance.module.css'

/** The choices of colours and language, for the account menu. */
export function Appearance() {
  const { t, i18n } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Choices
        title={t('shell.scheme.title')}
        choices={(['light', 'dark', 'auto'] as const).map(value => ({ value, label: t(`shell.scheme.${value}`) }))}
        chosen={colorScheme}
        onChoose={setColorScheme}
      />
      <Choices
        title={t('shell.language')}
        choices={Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Language, label }))}
        chosen={i18n.language as Language}
        onChoose={chooseLanguage}
      />
    </>
  )
}

/** One of a few, as items of a menu that stays open. */
function Choices<Value extends string>({
  title,
  choices,
  chosen,
  onChoose,
}: {
  title: string
  choices: readonly { value: Value; label: string }[]
  chosen: Value
  onChoose: (value: Value) => void
}) {
  return (
    <>
      <Menu.Label>{title}</Menu.Label>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset may not be within a menu */}
      <div role="group" aria-label={title} className={classes.choices}>
        <Menu.RadioGroup value={chosen} onChange={value => onChoose(value as Value)}>
          {choices.map(({ value, label }) => (
            <Menu.RadioItem
              key={value}
              value={value}
              closeMenuOnClick={false}
              className={classes.choice}
              classNames={{ itemIndicator: classes.indicator, itemSection: classes.indicator }}
            >
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </div>
    </>
  )
}
