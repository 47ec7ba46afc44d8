import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  profile: {
    title: 'Profil',
    timezone: 'Zeitzone',
    country: 'Land',
    countryHint: 'Etwa DE',
    currency: 'Währung',
    currencyHint: 'Etwa EUR',
    clear: 'Leeren',
    save: 'Profil speichern',
  },
  password: {
    title: 'Passwort',
    lead: 'Ein neues Passwort beendet alle anderen Sitzungen. API-Tokens bleiben aktiv.',
    current: 'Aktuelles Passwort',
    submit: 'Passwort ändern',
    done: 'Passwort geändert',
  },
  sessions: {
    lead: 'Wo Sie angemeldet sind.',
    endOthers: 'Alle anderen Sitzungen beenden',
    endOthersTitle: 'Alle anderen Sitzungen beenden?',
    endOthersText: 'Hier bleiben Sie angemeldet. Überall sonst müssen Sie sich neu anmelden.',
    endedOthers: 'Alle anderen Sitzungen beendet',
  },
  devices: {
    lead: 'Die Browser, von denen aus Sie sich angemeldet haben.',
    lastSeen: 'Letzte Anmeldung',
    remove: 'Entfernen',
    removeTitle: '{{name}} entfernen?',
    removeText: 'Die Sitzungen dieses Geräts enden sofort.',
    removed: '{{name}} entfernt',
  },
  scheme: { lead: 'Nur für diesen Browser.' },
} satisfies Translation<typeof en>
