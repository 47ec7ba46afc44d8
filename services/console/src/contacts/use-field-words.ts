import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useMissing } from '../session.ts'
import type en from './en.ts'
import { allListsQuery, attributesQuery } from './queries.ts'
import { fieldName, shownValue } from './value.ts'

/** Returns functions that name fields of contacts and show their values. Reads only what the fields need. */
export function useFieldWords(fields: readonly string[]): {
  nameOf: (field: string) => string
  shown: (field: string, value: unknown) => string | undefined
} {
  const { t, i18n } = useTranslation()
  const missing = useMissing()
  const { data: attributes = [] } = useQuery({
    ...attributesQuery,
    enabled: fields.some(field => field.startsWith('attributes.')) && !missing('attributes.list'),
  })
  const { data: lists = [] } = useQuery({
    ...allListsQuery,
    enabled: fields.includes('lists') && !missing('lists.list'),
  })
  const words = { yes: t('kit.yes'), no: t('kit.no') }
  const listName = (id: string) => lists.find(({ _id }) => _id === id)?.name ?? id
  return {
    nameOf: field =>
      i18n.exists(`contacts.fields.${field}`)
        ? t(`contacts.fields.${field as keyof typeof en.fields}`)
        : fieldName(field, attributes),
    shown: (field, value) => {
      const type = attributes.find(({ slug }) => field === `attributes.${slug}`)?.type
      const named = field === 'lists' && Array.isArray(value) ? value.map(listName) : value
      return shownValue(named, type, i18n.language, words)
    },
  }
}
