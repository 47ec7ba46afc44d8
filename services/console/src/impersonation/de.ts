import type { Translation } from '../i18n/translation.ts'
import type en from './en.ts'

export default {
  label: 'Impersonation',
  banner: '{{by}} sieht Rollcall als {{name}}. Nichts lässt sich ändern.',
  left: 'noch {{time}}',
  stop: 'Beenden',
  stopped: 'Sie sind wieder Sie selbst. Die Sitzung als {{name}} ist beendet.',
  ended: 'Die Impersonation ist beendet.',
  action: 'Impersonieren',
  title: 'Rollcall als {{name}} ansehen?',
  text: '30 Minuten lang zeigt dieser Tab, was {{name}} sieht. Sie können alles lesen und nichts ändern.',
  reason: 'Grund',
  reasonHint: 'Freiwillig. Wird mit dem Ereignis gespeichert.',
  audit: 'Die Impersonation wird protokolliert und steht unter den Sitzungen des Kontos.',
  start: 'Impersonieren',
} satisfies Translation<typeof en>
