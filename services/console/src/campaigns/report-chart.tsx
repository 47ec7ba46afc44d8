import '@mantine/charts/styles.layer.css'
import { BarChart } from '@mantine/charts'
import type { MailingPoint } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'

/** Draws when mails were opened and links followed. For eyes only: a table says the same. */
export function ReportChart({
  points,
  names,
}: {
  points: readonly MailingPoint[]
  names: Record<'opened' | 'clicked', string>
}) {
  const { i18n } = useTranslation()
  const number = (value: number) => value.toLocaleString(i18n.language)
  return (
    <div aria-hidden>
      <BarChart
        h={220}
        data={[...points]}
        dataKey="at"
        gridAxis="x"
        tickLine="none"
        strokeDasharray="3 3"
        withLegend
        legendProps={{ verticalAlign: 'bottom', height: 32, itemSorter: null }}
        maxBarWidth={18}
        valueFormatter={number}
        xAxisProps={{ minTickGap: 40, tickMargin: 8 }}
        yAxisProps={{ width: 48, tickFormatter: number, allowDecimals: false }}
        series={[
          { name: 'opened', label: names.opened, color: 'indigo.5' },
          { name: 'clicked', label: names.clicked, color: 'teal.6' },
        ]}
        barProps={{ isAnimationActive: false }}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}
