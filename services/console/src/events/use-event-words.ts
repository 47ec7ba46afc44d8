import type { EventType } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import type en from './en.ts'

type Kind = keyof typeof en.kinds

/** Returns functions that name types of events and kinds of records. What has no words yet is named as in the API. */
export function useEventWords(): { typeName: (type: string) => string; kindName: (kind: string) => string } {
  const { t, i18n } = useTranslation()
  return {
    typeName: type => (i18n.exists(`events.types.${type}`) ? t(`events.types.${type as EventType}`) : type),
    kindName: kind => (i18n.exists(`events.kinds.${kind}`) ? t(`events.kinds.${kind as Kind}`) : kind),
  }
}
