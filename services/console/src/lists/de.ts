import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Listen',
  lead: 'Gruppen von Kontakten, an die Kampagnen gehen.',
  new: 'Neue Liste',
  edit: 'Liste bearbeiten',
  search: 'Nach Namen suchen',
  empty: {
    title: 'Noch keine Listen',
    text: 'Legen Sie eine Liste an und füllen Sie sie von Hand, durch einen Import oder aus den Kontakten.',
  },
  members: 'Mitglieder',
  active: 'Aktiv',
  activeHint: 'Mitglieder, die weder gesperrt noch abgemeldet sind',
  archived: 'Archiviert',
  open: 'Offen',
  created: 'Liste {{name}} angelegt',
  saved: 'Liste gespeichert',
  archive: 'Archivieren',
  unarchive: 'Wieder öffnen',
  didArchive: '{{name}} archiviert. Die Liste nimmt keine Kontakte mehr auf.',
  didUnarchive: '{{name}} nimmt wieder Kontakte auf',
  delete: 'Liste löschen',
  deleteTitle: 'Liste {{name}} löschen?',
  deleteText_one: 'Ihr {{count}} Mitglied bleibt als Kontakt. Die Liste ist endgültig weg; archivieren behält sie.',
  deleteText_other:
    'Ihre {{count}} Mitglieder bleiben als Kontakte. Die Liste ist endgültig weg; archivieren behält sie.',
  deleted: 'Liste {{name}} gelöscht',
  back: 'Listen',
  addContacts: 'Kontakte hinzufügen',
  emails: 'E-Mail-Adressen',
  emailsHint: 'Eine pro Zeile oder durch Kommas getrennt. Nur Adressen vorhandener Kontakte werden aufgenommen.',
  add: 'In die Liste aufnehmen',
  added: '{{added}} aufgenommen, {{alreadyMember}} waren schon Mitglied, {{notFound}} sind keine Kontakte',
  remove: 'Aus der Liste entfernen',
  removed: '{{email}} aus der Liste entfernt',
  noMembers: {
    title: 'Niemand ist auf dieser Liste',
    text: 'Nehmen Sie Kontakte über ihre Adressen auf, oder wählen Sie sie unter den Kontakten aus.',
  },
} satisfies Translation<typeof en>
