import type { Language } from '../i18n/index.ts'
import type { Translate } from './translate.ts'

const LOADERS = { en: () => import('./en.ts'), de: () => import('./de.ts') } as const

let translate: Translate = () => undefined

/** Loads the texts of the server in a language. */
export async function loadServerTexts(language: Language): Promise<void> {
  const [{ createTranslate }, { serverTexts }] = await Promise.all([import('./translate.ts'), LOADERS[language]()])
  translate = createTranslate(serverTexts)
}

/** Returns a text of the server as a sentence in the language of the console. What is unknown stays as it is. */
export function sentence(text: string): string {
  const [, path, reason] = /^\w+ (?:field|array) -> ([\w.]+)(?:: (.*))?$/s.exec(text) ?? []
  const known = translate(text) ?? (path ? (reason ?? text) : text)
  return known.charAt(0).toUpperCase() + known.slice(1)
}
