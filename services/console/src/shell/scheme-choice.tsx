import { SegmentedControl, type SegmentedControlProps, useMantineColorScheme } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The choice of light, dark or the system's colours, for this browser. */
export function SchemeChoice(props: Omit<SegmentedControlProps, 'data'>) {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <SegmentedControl
      aria-label={t('shell.scheme.title')}
      value={colorScheme}
      onChange={scheme => setColorScheme(scheme as typeof colorScheme)}
      data={(['light', 'dark', 'auto'] as const).map(value => ({ value, label: t(`shell.scheme.${value}`) }))}
      {...props}
    />
  )
}
