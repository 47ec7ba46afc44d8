import { MultiSelect, Radio, Stack, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { openListsQuery, tagsQuery } from '../contacts/queries.ts'
import type { ImportOptions } from './draft.ts'

/** What happens to known contacts and blank cells, and what every contact gets. */
export function OptionsStep({
  options,
  onChange,
  children,
}: {
  options: ImportOptions
  onChange: (options: ImportOptions) => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { data: lists = [] } = useQuery(openListsQuery)
  const { data: tags = [] } = useQuery(tagsQuery)
  return (
    <Stack gap="lg" maw={560}>
      <Radio.Group
        label={t('imports.options.known')}
        value={options.duplicateStrategy}
        onChange={value => onChange({ ...options, duplicateStrategy: value as ImportOptions['duplicateStrategy'] })}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="update" label={t('imports.options.update')} description={t('imports.options.updateText')} />
          <Radio value="skip" label={t('imports.options.skip')} description={t('imports.options.skipText')} />
        </Stack>
      </Radio.Group>
      <Radio.Group
        label={t('imports.options.blank')}
        value={options.emptyValues}
        onChange={value => onChange({ ...options, emptyValues: value as ImportOptions['emptyValues'] })}
      >
        <Stack gap="xs" mt={6}>
          <Radio value="ignore" label={t('imports.options.ignore')} description={t('imports.options.ignoreText')} />
          <Radio value="clear" label={t('imports.options.clear')} description={t('imports.options.clearText')} />
        </Stack>
      </Radio.Group>
      <TagsInput
        label={t('imports.options.tags')}
        data={tags.slice(0, 100).map(({ tag }) => tag)}
        value={options.tags}
        onChange={chosen => onChange({ ...options, tags: chosen })}
      />
      <MultiSelect
        label={t('imports.options.lists')}
        data={lists.map(({ _id, name }) => ({ value: _id, label: name }))}
        value={options.listIds}
        onChange={listIds => onChange({ ...options, listIds })}
        searchable
      />
      {children}
    </Stack>
  )
}
