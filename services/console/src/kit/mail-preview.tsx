import { Alert, SegmentedControl, Select, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { DeviceDesktopIcon, DeviceMobileIcon } from '@primer/octicons-react'
import { BadRequestError, type CallName, type Preview } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useMissing } from '../session.ts'
import { useRefusal } from './action.tsx'
import { listQueryOf } from './list-search.ts'
import { MailFrame } from './mail-frame.tsx'
import classes from './mail-preview.module.css'
import { useProblemText } from './problem.ts'
import { ProblemAlert } from './problem-alert.tsx'
import { Section } from './section.tsx'

const PAUSE_MS = 400
const HITS = 10

/** What a mail is rendered from, and how. */
export type Rendering = {
  call: CallName
  /** Names what is rendered in the cache. */
  key: readonly unknown[]
  /** What is rendered again as soon as it stops changing. */
  content: object
  render: (content: object & { contactId?: string }, options: { signal: AbortSignal }) => Promise<Preview>
}

/** A mail as a contact gets it: in a mail program or on a phone, as HTML or as text. */
export function MailPreview({ rendering, lead, from }: { rendering: Rendering; lead: string; from?: ReactNode }) {
  const { t } = useTranslation()
  const refusal = useRefusal()(rendering.call)
  const [contactId, setContactId] = useState<string | null>(null)
  const [format, setFormat] = useState('html')
  const [width, setWidth] = useState('wide')
  const [content] = useDebouncedValue(rendering.content, PAUSE_MS)
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: [...rendering.key, 'preview', contactId, content],
    queryFn: ({ signal }) => rendering.render({ ...content, ...(contactId && { contactId }) }, { signal }),
    placeholderData: keepPreviousData,
    enabled: !refusal,
  })
  const shown = data?.html === null ? 'text' : format
  return (
    <Section title={t('kit.preview.title')} lead={refusal ?? lead}>
      <div className={classes.tools}>
        <ContactChoice value={contactId} onChange={setContactId} />
        <SegmentedControl
          size="xs"
          aria-label={t('kit.preview.format')}
          data={[
            { value: 'html', label: t('kit.preview.html'), disabled: data?.html === null },
            { value: 'text', label: t('kit.preview.text') },
          ]}
          value={shown}
          onChange={setFormat}
        />
        <SegmentedControl
          className={classes.width}
          size="xs"
          aria-label={t('kit.preview.width')}
          data={[
            { value: 'wide', label: <DeviceDesktopIcon size={14} aria-label={t('kit.preview.wide')} /> },
            { value: 'narrow', label: <DeviceMobileIcon size={14} aria-label={t('kit.preview.narrow')} /> },
          ]}
          value={width}
          onChange={setWidth}
        />
      </div>
      {error instanceof BadRequestError && <Unparsable error={error} />}
      {error && !(error instanceof BadRequestError) && <ProblemAlert error={error} onRetry={refetch} />}
      {!data && !error && !refusal && <Skeleton height={640} radius={12} />}
      {data && !error && (
        <div className={classes.stage} data-width={width}>
          <div className={classes.mail} data-stale={isPlaceholderData || undefined}>
            <div className={classes.head}>
              <div className={classes.subject}>{data.subject || t('kit.preview.noSubject')}</div>
              {from && <div className={classes.from}>{from}</div>}
            </div>
            {shown === 'html' && data.html !== null ? (
              <MailFrame html={data.html} title={t('kit.preview.frame')} />
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls by the keyboard
              <pre className={classes.text} tabIndex={0}>
                {data.text}
              </pre>
            )}
          </div>
        </div>
      )}
    </Section>
  )
}

/** Says what is wrong with the content, which is no failure: somebody is writing it. */
function Unparsable({ error }: { error: BadRequestError }) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const fields = t('kit.preview.fields', { returnObjects: true }) as Record<string, string>
  const field = fields[error.path ?? '']
  return (
    <Alert color="yellow" variant="light" role="status" title={t('kit.preview.unparsable')}>
      {field ? `${field}: ${problemText(error)}` : problemText(error)}
    </Alert>
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
      className={classes.contact}
      aria-label={t('kit.preview.of')}
      placeholder={t('kit.preview.anyContact')}
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
