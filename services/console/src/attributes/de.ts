import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Attribute',
  lead: 'Was Sie außer Name und E-Mail über Kontakte wissen, und die benutzten Tags.',
  new: 'Neues Attribut',
  edit: 'Attribut bearbeiten',
  empty: {
    title: 'Noch keine Attribute',
    text: 'Legen Sie ein Attribut an, etwa Firma oder Tarif, und jeder Kontakt kann einen Wert dafür haben.',
  },
  slug: 'Kürzel',
  slugHint: 'So nennen es Dateien und die API. Es lässt sich später nicht ändern.',
  options: 'Erlaubte Werte',
  optionsHint: 'Nach jedem Wert Enter drücken.',
  required: 'Neue Kontakte müssen einen Wert haben',
  requiredShort: 'Pflicht',
  types: { string: 'Text', number: 'Zahl', boolean: 'Ja oder nein', date: 'Datum', enum: 'Auswahl' },
  created: 'Attribut {{name}} angelegt',
  saved: 'Attribut gespeichert',
  delete: 'Attribut löschen',
  deleteTitle: 'Attribut {{name}} löschen?',
  deleteText_one: '{{count}} Kontakt verliert seinen Wert. Das lässt sich nicht rückgängig machen.',
  deleteText_other: '{{count}} Kontakte verlieren ihren Wert. Das lässt sich nicht rückgängig machen.',
  deleted: 'Attribut {{name}} gelöscht',
  tags: 'Tags',
  noTags: 'Noch hat kein Kontakt ein Tag.',
  contacts: 'Kontakte',
} satisfies Translation<typeof en>
