import { useTranslation } from 'react-i18next'
import { ApiError } from '../api.ts'

/** Returns the text to show for an error. */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation()
  return error => {
    if (!(error instanceof ApiError)) return t('kit.errors.offline')
    if (error.status === 503) return t('kit.errors.unavailable')
    return error.message
  }
}
