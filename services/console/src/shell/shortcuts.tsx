import { Kbd, Modal } from '@mantine/core'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'
import { useModifierName } from './palette-keys.tsx'
import classes from './shortcuts.module.css'

/** The keys that the console knows. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const mod = useModifierName()
  const groups = [
    { name: 'anywhere', keys: { palette: [mod, 'K'], help: ['?'], close: ['Esc'] } },
    { name: 'lists', keys: { search: ['/'], create: ['N'], down: ['J'], up: ['K'], open: ['↵'], select: ['X'] } },
  ] as const
  return (
    <Modal opened onClose={onClose} closeOnClickOutside title={t('kit.shortcuts.title')} size="sm">
      {groups.map(({ name, keys }) => (
        <section key={name} className={classes.group}>
          <h3 className={classes.heading}>{t(`kit.shortcuts.${name}`)}</h3>
          <dl className={classes.keys}>
            {(Object.entries(keys) as [keyof typeof keys, readonly string[]][]).map(([key, combination]) => (
              <Fragment key={key}>
                <dt>{t(`kit.shortcuts.${key}` as 'kit.shortcuts.help')}</dt>
                <dd>
                  {combination.map(one => (
                    <Kbd key={one}>{one}</Kbd>
                  ))}
                </dd>
              </Fragment>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  )
}
