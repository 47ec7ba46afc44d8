import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  lead: 'Was für alle in der Organisation gilt.',
  general: 'Allgemein',
  languageHint: 'Ein Kürzel wie en oder de-DE.',
  security: 'Sicherheit',
  requireMfa: 'Zweiten Faktor verlangen',
  requireMfaHint: 'Wer keinen hat, muss ihn zuerst einrichten. API-Tokens betrifft das nicht.',
  sessionHours: 'Stunden, nach denen eine Anmeldung abläuft',
  sessionHoursHint: '1 bis 720. Gilt für neue Anmeldungen.',
  allowedOrigins: 'Erlaubte Ursprünge',
  allowedOriginsHint: 'Webseiten dieser Ursprünge dürfen die API mit Ihren Tokens aufrufen. Einer in jeder Zeile.',
  data: 'Daten',
  eventRetentionDays: 'Tage, die Ereignisse aufbewahrt werden',
  eventRetentionDaysHint: '7 bis 365.',
  opens: 'Öffnungen standardmäßig messen',
  clicks: 'Klicks standardmäßig messen',
  trackingHint: 'Jede Kampagne kann das selbst festlegen.',
  save: 'Einstellungen speichern',
} satisfies Translation<typeof en>
