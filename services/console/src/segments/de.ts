import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Segmente',
  lead: 'Gespeicherte Filter. Ein Segment hat die Kontakte, die jetzt zu ihm passen.',
  new: 'Neues Segment',
  edit: 'Segment bearbeiten',
  save: 'Als Segment speichern',
  search: 'Nach Name suchen',
  empty: {
    title: 'Noch keine Segmente',
    text: 'Beschreiben Sie eine Gruppe von Kontakten einmal, und verwenden Sie sie überall, wo Sie Kontakte auswählen.',
  },
  none: 'Speichern Sie einen Filter als Segment, um ihn hier zu finden.',
  showAll: 'Alle {{count}} zeigen',
  saveView: 'Spalten und Sortierung speichern',
  viewSaved: 'Spalten und Sortierung von {{name}} gespeichert',
  conditions: 'Bedingungen',
  contacts: 'Kontakte',
  createdBy: 'Erstellt von',
  everyone: 'Alle Kontakte',
  outdated: 'Veraltet',
  created: 'Segment {{name}} angelegt',
  saved: 'Segment gespeichert',
  delete: 'Segment löschen',
  deleteTitle: 'Segment {{name}} löschen?',
  deleteText: 'Die Kontakte bleiben, wie sie sind. Der Filter ist endgültig weg.',
  deleted: 'Segment {{name}} gelöscht',
  nobody: { title: 'Niemand passt', text: 'Kontakte erscheinen hier, sobald die Bedingungen auf sie zutreffen.' },
} satisfies Translation<typeof en>
