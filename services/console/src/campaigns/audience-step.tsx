import { Alert, MultiSelect, Skeleton, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import type { AudienceCounts, Campaign } from '@rollcall/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { openListsQuery } from '../contacts/queries.ts'
import { useRefusal } from '../kit/action.tsx'
import { OutcomeBar } from '../kit/outcome-bar.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { allSegmentsQuery } from '../segments/queries.ts'
import { useMissing } from '../session.ts'
import classes from './edit-campaign.module.css'
import { audienceShares } from './status.ts'
import { StepForm } from './step-form.tsx'

const PAUSE_MS = 250

/** Who gets the mail, with how many that are. */
export function AudienceStep({ campaign }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation()
  const missing = useMissing()
  const { data: lists = [] } = useQuery({ ...openListsQuery, enabled: !missing('lists.list') })
  const { data: segments = [] } = useQuery({ ...allSegmentsQuery, enabled: !missing('segments.list') })
  const { lists: chosen, segments: chosenSegments, excludeLists } = campaign
  const form = useForm({ initialValues: { lists: chosen, segments: chosenSegments, excludeLists } })
  const number = (count: number) => count.toLocaleString(i18n.language)
  const listOptions = lists.map(({ _id, name, memberCount }) => ({
    value: _id,
    label: `${name} (${number(memberCount)})`,
  }))
  return (
    <StepForm campaign={campaign} step="audience" form={form} toBody={values => values}>
      <div className={classes.columns} data-side>
        <div className={classes.fields}>
          <Text c="dimmed" size="md">
            {t('campaigns.audienceText')}
          </Text>
          <MultiSelect
            label={t('campaigns.lists')}
            placeholder={form.values.lists.length === 0 ? t('campaigns.chooseLists') : ''}
            searchable
            clearable
            hidePickedOptions
            data={listOptions}
            {...form.getInputProps('lists')}
          />
          <MultiSelect
            label={t('campaigns.segments')}
            placeholder={form.values.segments.length === 0 ? t('campaigns.chooseSegments') : ''}
            searchable
            clearable
            hidePickedOptions
            data={segments.map(({ _id, name }) => ({ value: _id, label: name }))}
            {...form.getInputProps('segments')}
          />
          <MultiSelect
            label={t('campaigns.excludeLists')}
            description={t('campaigns.excludeHint')}
            placeholder={form.values.excludeLists.length === 0 ? t('campaigns.chooseLists') : ''}
            searchable
            clearable
            hidePickedOptions
            data={listOptions}
            {...form.getInputProps('excludeLists')}
          />
        </div>
        <LiveCount selection={form.values} />
      </div>
    </StepForm>
  )
}

type Selection = Pick<Campaign, 'lists' | 'segments' | 'excludeLists'>

function LiveCount({ selection }: { selection: Selection }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('campaigns.countAudience')
  const [settled] = useDebouncedValue(selection, PAUSE_MS)
  const isEmpty = selection.lists.length + selection.segments.length === 0
  const { data, error, refetch } = useQuery({
    queryKey: ['campaigns', 'audience', settled],
    queryFn: ({ signal }) => rollcall.campaigns.countAudience(settled, { signal }),
    placeholderData: keepPreviousData,
    enabled: !refusal && !isEmpty,
  })
  return (
    <section className={`${classes.card} ${classes.sticky}`} aria-label={t('campaigns.reach')}>
      {isEmpty && <Text c="dimmed">{t('campaigns.nobodyYet')}</Text>}
      {refusal && <Alert color="yellow">{refusal}</Alert>}
      {!isEmpty && error && <ProblemAlert error={error} onRetry={refetch} />}
      {!isEmpty && !error && !refusal && (data ? <AudienceNumbers counts={data} /> : <Skeleton height={180} />)}
    </section>
  )
}

/** How many get the mail, and how many do not and why. */
export function AudienceNumbers({ counts }: { counts: AudienceCounts }) {
  const { t, i18n } = useTranslation()
  const number = (count: number) => count.toLocaleString(i18n.language)
  const shares = audienceShares(counts).map(share => ({ ...share, label: t(`campaigns.audienceCounts.${share.name}`) }))
  const leftOut = shares.filter(({ name, count }) => name !== 'recipients' && count > 0)
  return (
    <>
      <Text c="dimmed" size="sm" fw={550}>
        {t('campaigns.audienceCounts.recipients')}
      </Text>
      <div className={classes.big} role="status">
        {number(counts.recipients)}
      </div>
      <OutcomeBar parts={shares} total={shares.reduce((sum, { count }) => sum + count, 0)} withNumbers={false} />
      {leftOut.length > 0 ? (
        <dl className={classes.lines}>
          {leftOut.map(({ name, label, count }) => (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{number(count)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <Text c="dimmed" size="sm" mt="sm">
          {t(counts.recipients > 0 ? 'campaigns.nobodyLeftOut' : 'campaigns.nobodyYet')}
        </Text>
      )}
    </>
  )
}
