import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  title: 'Übersicht',
  contacts: 'Kontakte',
  reachable: 'Erreichbar',
  unsubscribed: 'Abgemeldet',
  blocked: 'Gesperrt',
  lists: 'Listen nach Größe',
  imports: 'Letzte Importe',
  attention: 'Braucht Aufmerksamkeit',
  allGood: 'Nichts braucht Ihre Aufmerksamkeit.',
  domainPending: '{{domain}} ist noch nicht verifiziert',
  domainDegraded: 'Die Einträge von {{domain}} sind falsch',
  tokenExpires: 'Das Token {{name}} läuft bald ab',
  webhookFails: 'Zustellungen an {{name}} schlagen fehl',
  webhookStopped: '{{name}} schlug zu lange fehl und wurde abgeschaltet',
  showAll: 'Alle zeigen',
  first: 'Erste Schritte',
  steps: {
    attributes: 'Festlegen, was Sie über Kontakte wissen',
    contacts: 'Kontakte importieren',
    lists: 'Eine Liste anlegen',
    domains: 'Die Domain hinzufügen, von der Sie senden',
    senders: 'Einen Absender hinzufügen',
    tokens: 'Ein API-Token erstellen',
  },
  done: 'erledigt',
  open: 'offen',
} satisfies Translation<typeof en>
