import type { ParseKeys } from 'i18next'
import { useTranslation } from 'react-i18next'

type Key = Extract<ParseKeys, `events.${'types' | 'kinds'}.${string}`>

/** Returns functions that name types of events and kinds of records. What has no words yet is named as in the API. */
export function useEventWords(): { typeName: (type: string) => string; kindName: (kind: string) => string } {
  const { t, i18n } = useTranslation()
  const wordsOf = (key: string, name: string) => (i18n.exists(key) ? t(key as Key) : name)
  return {
    typeName: type => wordsOf(`events.types.${type}`, type),
    kindName: kind => wordsOf(`events.kinds.${kind}`, kind),
  }
}
