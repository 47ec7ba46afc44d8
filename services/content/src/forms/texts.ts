import type { Language } from '@rollcall/pages'

/** Texts of the pages of forms. */
export const texts = {
  en: {
    submit: 'Submit',
    required: '(required)',
    choose: 'Please choose',
    leaveEmpty: 'Leave this field empty',
    thanks: 'Thank you',
    received: 'We have received your entry.',
    notAccepted: 'Your entry could not be accepted',
    missing: 'Please fill in this field.',
    duplicate: 'This value was already submitted.',
    invalid: 'Please check this field.',
    invalidOf: {
      string: 'Please enter one line of text.',
      text: 'This text is too long.',
      number: 'Please enter a number.',
      boolean: 'Please check this field.',
      date: 'Please enter a date.',
      enum: 'Please choose one of the options.',
      email: 'Please enter an email address.',
      url: 'Please enter a web address that begins with https:// or http://.',
    },
  },
  de: {
    submit: 'Absenden',
    required: '(Pflichtfeld)',
    choose: 'Bitte wählen',
    leaveEmpty: 'Dieses Feld leer lassen',
    thanks: 'Vielen Dank',
    received: 'Ihre Angaben sind angekommen.',
    notAccepted: 'Ihre Angaben konnten nicht angenommen werden',
    missing: 'Bitte füllen Sie dieses Feld aus.',
    duplicate: 'Dieser Wert wurde schon eingereicht.',
    invalid: 'Bitte prüfen Sie dieses Feld.',
    invalidOf: {
      string: 'Bitte geben Sie eine Zeile Text ein.',
      text: 'Dieser Text ist zu lang.',
      number: 'Bitte geben Sie eine Zahl ein.',
      boolean: 'Bitte prüfen Sie dieses Feld.',
      date: 'Bitte geben Sie ein Datum ein.',
      enum: 'Bitte wählen Sie eine der Möglichkeiten.',
      email: 'Bitte geben Sie eine E-Mail-Adresse ein.',
      url: 'Bitte geben Sie eine Webadresse ein, die mit https:// oder http:// beginnt.',
    },
  },
} as const satisfies Record<Language, object>

/** Texts of the mail and the page that confirm an address. */
export const confirmationTexts = {
  en: {
    subject: (form: string) => `Please confirm: ${form}`,
    reason: (form: string) => `Somebody, hopefully you, entered this address in the form "${form}".`,
    howTo: 'If it was you, open this page within 7 days and confirm:',
    otherwise: 'If it was not you, ignore this mail. Without a confirmation, nothing happens.',
    consent: (form: string) => `I agree to receive emails at this address: ${form}`,
    title: 'Please confirm your address',
    confirm: 'Confirm',
    thanks: 'Thank you',
    done: 'Your address is confirmed.',
  },
  de: {
    subject: (form: string) => `Bitte bestätigen: ${form}`,
    reason: (form: string) => `Jemand, hoffentlich Sie, hat diese Adresse in das Formular "${form}" eingetragen.`,
    howTo: 'Wenn Sie es waren, öffnen Sie innerhalb von 7 Tagen diese Seite und bestätigen Sie:',
    otherwise: 'Wenn Sie es nicht waren, beachten Sie diese Mail nicht. Ohne Bestätigung geschieht nichts.',
    consent: (form: string) => `Ich möchte unter dieser Adresse E-Mails erhalten: ${form}`,
    title: 'Bitte bestätigen Sie Ihre Adresse',
    confirm: 'Bestätigen',
    thanks: 'Vielen Dank',
    done: 'Ihre Adresse ist bestätigt.',
  },
} as const satisfies Record<Language, object>
