import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  close: 'Schließen',
  cancel: 'Abbrechen',
  save: 'Speichern',
  delete: 'Löschen',
  edit: 'Bearbeiten',
  copy: '{{what}} kopieren',
  copied: '{{what}} kopiert',
  requestId: 'Anfrage-Id',
  errors: {
    title: 'Das hat nicht funktioniert',
    offline: 'Der Server hat nicht geantwortet. Prüfen Sie Ihre Verbindung.',
    unavailable: 'Der Dienst ist gerade nicht verfügbar.',
    rateLimited: 'Zu viele Anfragen. Versuchen Sie es in {{seconds}} s erneut.',
    retry: 'Erneut versuchen',
    forbidden: 'Sie brauchen die Berechtigung {{permission}}.',
    readOnly: 'Eine Impersonation kann nur lesen.',
  },
} satisfies Translation<typeof en>
