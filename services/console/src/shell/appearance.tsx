import { Menu, SegmentedControl } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { chooseLanguage, LANGUAGES, type Language } from '../i18n/index.ts'
import { SchemeChoice } from './scheme-choice.tsx'

/** The choices of colours and language, for the account menu. */
export function Appearance() {
  const { t, i18n } = useTranslation()
  return (
    <>
      <Menu.Label>{t('shell.scheme.title')}</Menu.Label>
      <SchemeChoice fullWidth size="xs" mx={8} mb={6} />
      <Menu.Label>{t('shell.language')}</Menu.Label>
      <SegmentedControl
        fullWidth
        size="xs"
        mx={8}
        mb={6}
        aria-label={t('shell.language')}
        value={i18n.language}
        onChange={language => chooseLanguage(language as Language)}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
      />
    </>
  )
}
