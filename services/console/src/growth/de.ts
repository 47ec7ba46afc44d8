import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Wachstum',
  period: 'Zeitraum',
  periods: { month: '30 Tage', quarter: '90 Tage', year: '12 Monate' },
  chart: 'Diagramm',
  table: 'Tabelle',
  view: 'Ansicht',
  total: 'Gesamt',
  created: 'Neu',
  joined: 'Hinzugefügt',
  unsubscribed: 'Abgemeldet',
  deleted: 'Gelöscht',
  left: 'Entfernt',
  day: 'Tag',
  week: 'Woche ab',
  net: '{{change}} in {{period}}',
  caption: 'Wachstum der Kontakte, {{period}}',
} satisfies Translation<typeof en>
