import { notifications } from '@mantine/notifications'
import { ConnectionError, RateLimitError, RollcallError, UnavailableError } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { sentence } from '../server/texts.ts'
import { followRefusal } from '../session.ts'

const SECOND_MS = 1000

/** Returns the text to show for an error. */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation()
  return error => {
    if (error instanceof ConnectionError) return t('kit.errors.offline')
    if (error instanceof UnavailableError) return t('kit.errors.unavailable')
    if (error instanceof RateLimitError && error.retryAfterMs !== undefined)
      return t('kit.errors.rateLimited', { seconds: Math.ceil(error.retryAfterMs / SECOND_MS) })
    if (error instanceof RollcallError) return sentence(error.message)
    return error instanceof Error ? error.message : String(error)
  }
}

/** Returns functions that report the result of an action where it has no other place. */
export function useReports(): { done: (text: string) => void; failed: (error: unknown) => void } {
  const { t } = useTranslation()
  const problemText = useProblemText()
  return {
    done: text => void notifications.show({ message: text, color: 'teal', role: 'status', ...CLOSE }),
    failed: error => {
      followRefusal(error) // the caches report only what queries and mutations are refused
      const requestId = error instanceof RollcallError ? error.requestId : undefined
      const message = requestId ? `${problemText(error)} (${t('kit.requestId')} ${requestId})` : problemText(error)
      notifications.show({ message, color: 'red', role: 'alert', autoClose: 10_000, ...CLOSE })
    },
  }
}

const CLOSE = { withBorder: true }
