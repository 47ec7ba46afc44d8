import { Button, Menu, Stack, Textarea } from '@mantine/core'
import { CodeIcon } from '@primer/octicons-react'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { useAttributes } from '../contacts/queries.ts'
import classes from './html-field.module.css'
import { VARIABLES, withVariable } from './variables.ts'

/** The HTML of a mail, with a menu that inserts variables. */
export function HtmlField({
  value = '',
  onChange,
  error,
}: {
  value?: string
  onChange: (html: string) => void
  error?: React.ReactNode
}) {
  const { t } = useTranslation()
  const input = useRef<HTMLTextAreaElement>(null)
  const insert = (path: string) => {
    const { selectionStart: from = 0, selectionEnd: to = 0 } = input.current ?? {}
    onChange(withVariable(value, path, from, to))
    input.current?.focus()
  }
  return (
    <Stack gap={6}>
      <Textarea
        ref={input}
        label={t('templates.html')}
        required
        autosize
        minRows={14}
        maxRows={28}
        spellCheck={false}
        classNames={{ input: classes.code }}
        value={value}
        error={error}
        onChange={event => onChange(event.currentTarget.value)}
      />
      <div>
        <InsertVariable onInsert={insert} />
      </div>
    </Stack>
  )
}

function InsertVariable({ onInsert }: { onInsert: (path: string) => void }) {
  const { t } = useTranslation()
  const { data: attributes = [] } = useAttributes()
  return (
    <Menu position="bottom-start" width={260} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<CodeIcon size={14} />}>
          {t('templates.insert')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {(Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]).map(group => (
          <div key={group}>
            <Menu.Label>{t(`templates.${group}`)}</Menu.Label>
            {VARIABLES[group].map(({ path, name }) => (
              <Menu.Item key={path} onClick={() => onInsert(path)}>
                {t(`templates.variable.${name}`)}
              </Menu.Item>
            ))}
            {group === 'contact' &&
              attributes.map(({ slug, name }) => (
                <Menu.Item key={slug} onClick={() => onInsert(`contact.attributes.${slug}`)}>
                  {name}
                </Menu.Item>
              ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
