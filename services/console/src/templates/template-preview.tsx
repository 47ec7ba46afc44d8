import { SegmentedControl, Select, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Template } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { listQueryOf } from '../kit/list-search.ts'
import { MailFrame } from '../kit/mail-frame.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { useMissing } from '../session.ts'
import classes from './template.module.css'

const PAUSE_MS = 250
const HITS = 10

/** The saved template as a contact gets it. */
export function TemplatePreview({ template: { _id, updatedAt } }: { template: Template }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('templates.preview')
  const [contactId, setContactId] = useState<string | null>(null)
  const [format, setFormat] = useState('html')
  const [width, setWidth] = useState('wide')
  const { data, error, refetch } = useQuery({
    queryKey: ['templates', _id, 'preview', updatedAt, contactId],
    queryFn: ({ signal }) => rollcall.templates.preview(_id, contactId ? { contactId } : {}, { signal }),
    placeholderData: keepPreviousData,
    enabled: !refusal,
  })
  return (
    <Section
      title={t('templates.preview')}
      lead={refusal ?? t('templates.previewText')}
      action={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t('templates.format')}
            data={[
              { value: 'html', label: t('templates.asHtml') },
              { value: 'text', label: t('templates.asText') },
            ]}
            value={format}
            onChange={setFormat}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('templates.width')}
            data={[
              { value: 'wide', label: t('templates.wide') },
              { value: 'narrow', label: t('templates.narrow') },
            ]}
            value={width}
            onChange={setWidth}
          />
        </>
      }
    >
      <ContactChoice value={contactId} onChange={setContactId} />
      {error && <ProblemAlert error={error} onRetry={refetch} />}
      {!data && !error && !refusal && <Skeleton height={320} mt="sm" />}
      {data && (
        <div className={classes.mail} data-width={width}>
          <div className={classes.subject}>{data.subject || t('templates.noSubject')}</div>
          {format === 'html' && data.html !== null ? (
            <MailFrame html={data.html} title={t('templates.frame')} />
          ) : (
            <pre className={classes.text}>{data.text}</pre>
          )}
        </div>
      )}
    </Section>
  )
}

function ContactChoice({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const [text, setText] = useState('')
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const isOpenTo = !missing('contacts.list')
  const { data: contacts = [] } = useQuery({
    queryKey: ['contacts', 'choice', settled],
    queryFn: async ({ signal }) => {
      const query = { ...listQueryOf({ q: settled }, ['email']), limit: HITS }
      return (await rollcall.contacts.list(query, { signal })).docs
    },
    enabled: isOpenTo,
    placeholderData: keepPreviousData,
  })
  if (!isOpenTo) return null
  return (
    <Select
      label={t('templates.previewOf')}
      placeholder={t('templates.anyContact')}
      clearable
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      data={contacts.map(({ _id, email }) => ({ value: _id, label: email }))}
      value={value}
      onChange={onChange}
    />
  )
}
