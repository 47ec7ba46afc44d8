import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { relativeTime } from './relative-time.ts'

/** A time, relative to now; the absolute one in the tooltip. */
export function When({ at }: { at: string | null | undefined }) {
  const { i18n } = useTranslation()
  if (!at) return <span aria-hidden>{DASH}</span>
  const date = new Date(at)
  const absolute = date.toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <Tooltip label={absolute}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {relativeTime(date, new Date(), i18n.language)}
      </time>
    </Tooltip>
  )
}

const DASH = '–'
