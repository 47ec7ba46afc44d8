import type { Attribute } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useMissing } from '../session.ts'
import { SOURCES } from './conditions.ts'
import { allListsQuery, useAttributes } from './queries.ts'
import type { FieldKind, RuleField } from './rules.ts'

const EMAIL_STATUSES = ['unknown', 'ok', 'bounced', 'complained'] as const

const KINDS: Record<Attribute['type'], FieldKind> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  enum: 'choice',
}

/** Returns the fields that rules of contacts can name; undefined until the attributes and lists are known. */
export function useRuleFields(): RuleField[] | undefined {
  const { t } = useTranslation()
  const missing = useMissing()
  const mayListLists = !missing('lists.list')
  const { data: attributes = missing('attributes.list') ? [] : undefined } = useAttributes()
  const { data: lists = mayListLists ? undefined : [] } = useQuery({ ...allListsQuery, enabled: mayListLists })
  if (!attributes || !lists) return undefined
  const own = (name: string, label: string, kind: FieldKind, rest: Partial<RuleField> = {}): RuleField => ({
    name,
    label,
    kind,
    isOptional: false,
    ...rest,
  })
  return [
    own('email', t('kit.field.email'), 'text'),
    own('name', t('kit.field.name'), 'text'),
    own('tags', t('kit.field.tags'), 'tags'),
    own('lists', t('contacts.lists'), 'lists', {
      options: lists.map(({ _id, name }) => ({ value: _id, label: name })),
    }),
    own('unsubscribed', t('contacts.status.unsubscribed'), 'boolean'),
    own('blocked', t('contacts.status.blocked'), 'boolean'),
    own('emailStatus', t('contacts.rules.emailStatus'), 'choice', {
      options: EMAIL_STATUSES.map(value => ({ value, label: t(`contacts.rules.emailStatuses.${value}`) })),
    }),
    own('source', t('contacts.columns.source'), 'choice', {
      options: SOURCES.map(value => ({ value, label: t(`contacts.source.${value}`) })),
    }),
    own('createdAt', t('kit.field.created'), 'date'),
    own('updatedAt', t('kit.field.updated'), 'date'),
    own('unsubscribedAt', t('contacts.rules.unsubscribedAt'), 'date', { isOptional: true }),
    own('blockedAt', t('contacts.rules.blockedAt'), 'date', { isOptional: true }),
    ...attributes.map(({ slug, name, type, options }) =>
      own(`attributes.${slug}`, name, KINDS[type], {
        isOptional: true,
        options: options.map(value => ({ value, label: value })),
      }),
    ),
  ]
}
