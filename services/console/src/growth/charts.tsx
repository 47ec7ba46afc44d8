import '@mantine/charts/styles.layer.css'
import { AreaChart, BarChart } from '@mantine/charts'
import type { GrowthPoint } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { ticksOf } from './series.ts'

const SERIES = { created: 'indigo.5', unsubscribed: 'orange.5', deleted: 'gray.5' } as const

/** Draws growth: the total as an area, what came and went as bars. For eyes only: a table says the same. */
export function GrowthCharts({
  points,
  names,
}: {
  points: readonly GrowthPoint[]
  names: Record<keyof typeof SERIES | 'total', string>
}) {
  const { i18n } = useTranslation()
  const day = (at: string) =>
    new Date(at).toLocaleDateString(i18n.language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const number = (value: number) => value.toLocaleString(i18n.language)
  const short = (value: number) =>
    value < 1e6
      ? number(value)
      : value.toLocaleString(i18n.language, { notation: 'compact', maximumSignificantDigits: 4 })
  const data = points.map(({ at, ...counts }) => ({ ...counts, day: day(at) }))
  const common = {
    data,
    dataKey: 'day',
    gridAxis: 'x',
    tickLine: 'none',
    valueFormatter: number,
    strokeDasharray: '3 3',
    xAxisProps: { minTickGap: 40, tickMargin: 8 },
  } as const
  const ticks = ticksOf(points)
  const axis = { width: 56, tickFormatter: short, allowDecimals: false } as const
  return (
    <div aria-hidden>
      <AreaChart
        {...common}
        h={175}
        withXAxis={false}
        withDots={false}
        curveType="linear"
        strokeWidth={1.75}
        fillOpacity={0.22}
        yAxisProps={{ ...axis, ticks, domain: [ticks[0]!, ticks.at(-1)!] }}
        series={[{ name: 'total', label: names.total, color: 'indigo.5' }]}
        areaProps={{ isAnimationActive: false }}
        areaChartProps={{ accessibilityLayer: false, margin: { top: 5, right: 0, bottom: 16, left: 0 } }}
      />
      <BarChart
        {...common}
        h={120}
        type="stacked"
        withLegend
        legendProps={{ verticalAlign: 'bottom', height: 32 }}
        maxBarWidth={14}
        yAxisProps={{ ...axis, tickCount: 3 }}
        series={(['created', 'unsubscribed', 'deleted'] as const).map(name => ({
          name,
          label: names[name],
          color: SERIES[name],
        }))}
        barProps={{ isAnimationActive: false }}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}
