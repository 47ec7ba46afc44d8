import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Tokens',
  lead: 'Zugangsdaten für Programme, die die API benutzen.',
  create: 'Token erstellen',
  empty: {
    title: 'Noch keine Tokens',
    text: 'Mit einem Token benutzt ein Programm die API, mit Ihren Rechten oder denen einer Rolle.',
  },
  status: {
    active: 'Aktiv',
    inactive: 'Inaktiv',
    archived: 'Archiviert',
    expired: 'Abgelaufen',
    'role-missing': 'Rolle gelöscht',
    'creator-missing': 'Ersteller gelöscht',
  },
  preview: 'Token',
  lastUsed: 'Zuletzt benutzt',
  never: 'Nie',
  expires: 'Läuft ab',
  expiry: { never: 'Nie', days_one: 'In {{count}} Tag', days_other: 'In {{count}} Tagen' },
  asCreator: 'Wie sein Ersteller',
  roleHint: 'Ohne Rolle darf das Token, was Sie dürfen.',
  by: 'Erstellt von',
  deactivate: 'Deaktivieren',
  activate: 'Aktivieren',
  deactivated: '{{name}} wird ab der nächsten Anfrage abgelehnt, auf jeder Replik',
  activated: '{{name}} ist wieder aktiv',
  delete: 'Token löschen',
  deleteTitle: 'Token {{name}} löschen?',
  deleteText:
    'Programme, die es benutzen, werden ab der nächsten Anfrage abgelehnt. Das lässt sich nicht rückgängig machen.',
  deleted: 'Token {{name}} gelöscht',
  secret: {
    title: 'Kopieren Sie Ihr Token jetzt',
    text: 'Sie sehen es nicht wieder. Bewahren Sie es dort auf, wo nur das Programm es lesen kann.',
    token: 'Token',
    curl: 'Ausprobieren',
    env: 'Als .env herunterladen',
    done: 'Ich habe es gespeichert',
    leave: 'Ohne Kopieren schließen?',
    leaveText: 'Sie sehen dieses Token nicht wieder.',
    stay: 'Zurück',
    close: 'Schließen',
  },
} satisfies Translation<typeof en>
