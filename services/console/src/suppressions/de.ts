import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Sperrliste',
  lead: 'Adressen, die keine Mails erhalten: unzustellbar, nach einer Beschwerde oder von Hand eingetragen.',
  add: 'Adresse hinzufügen',
  search: 'Adressen suchen',
  empty: {
    title: 'Keine gesperrten Adressen',
    text: 'Eine Adresse kommt von selbst hierher, wenn sie unzustellbar ist oder jemand Mails als Spam meldet.',
  },
  kind: { hard_bounce: 'Unzustellbar', complaint: 'Beschwerde', manual: 'Eingetragen' },
  why: 'Warum',
  reason: 'Grund',
  count: 'Anzahl',
  last: 'Zuletzt',
  lift: 'Sperre aufheben',
  liftTitle: 'Wieder an {{email}} senden?',
  liftText: 'Die nächste Mail an diese Adresse wird versucht. Ist sie wieder unzustellbar, kommt die Adresse zurück.',
  lifted: '{{email}} kann wieder Mails erhalten',
  added: '{{email}} erhält keine Mails mehr',
} satisfies Translation<typeof en>
