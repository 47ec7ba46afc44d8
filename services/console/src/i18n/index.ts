import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { loadServerTexts } from '../server/texts.ts'
import { en } from './en.ts'

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'rollcall.language'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation'
    resources: { translation: typeof en }
  }
}

/** Starts with the language that was chosen before, else the browser's. English texts are always at hand. */
export async function startTranslation(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    interpolation: { escapeValue: false }, // React escapes
  })
  await useLanguage(preferredLanguage())
}

/** Changes the language, for this visit and the next. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_AS, language)
  await useLanguage(language)
}

async function useLanguage(language: Language): Promise<void> {
  const serverTexts = loadServerTexts(language).catch(() => {}) // the texts stay as the server writes them
  if (language === 'de') {
    i18next.addResourceBundle('de', 'translation', (await import('./de.ts')).de)
    await serverTexts
  }
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

function preferredLanguage(): Language {
  const wanted = localStorage.getItem(STORED_AS) ?? navigator.language.slice(0, 2)
  return wanted in LANGUAGES ? (wanted as Language) : 'en'
}
