import { Button } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Campaign, UpdateCampaignBody } from '@rollcall/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { Steps } from '../kit/steps.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import classes from './edit-campaign.module.css'
import { campaignQuery } from './queries.ts'
import { neighboursOf, STEPS, type Step } from './status.ts'

/** Returns a function that goes to another step. */
export function useGoTo(id: string): (step: Step) => void {
  const navigate = useNavigate()
  return step => void navigate({ to: '/campaigns/$id/edit/$step', params: { id, step } })
}

/** Where one is in the wizard; leads to the other steps. */
export function CampaignSteps(props: { step: Step; failed?: readonly Step[]; onGo: (step: Step) => void }) {
  const { t } = useTranslation()
  return <Steps steps={STEPS} labelOf={each => t(`campaigns.steps.${each}`)} {...props} />
}

/** A step that changes the campaign. Leaving it for another step saves it first. */
export function StepForm<Values extends Record<string, unknown>>({
  campaign: { _id },
  step,
  form,
  toBody,
  children,
}: {
  campaign: Campaign
  step: Step
  form: UseFormReturnType<Values>
  toBody: (values: Values) => UpdateCampaignBody
  children: ReactNode
}) {
  const { t } = useTranslation()
  const goTo = useGoTo(_id)
  const refusal = useRefusal()('campaigns.update')
  const client = useQueryClient()
  const submit = useSubmit(form, {
    send: async values => {
      await rollcall.campaigns.update(_id, toBody(values))
      await client.fetchQuery({ ...campaignQuery(_id), staleTime: 0 }) // other steps begin with it
    },
  })
  useUnsaved(form.isDirty)
  const { before, after } = neighboursOf(step)
  const leaveTo = (target: Step) => {
    if (!form.isDirty() || refusal) return goTo(target)
    submit.mutate(form.getValues(), { onSuccess: () => leaveTo(target) }) // again, if more was typed meanwhile
  }
  return (
    <>
      <CampaignSteps step={step} onGo={leaveTo} />
      <SubmitForm form={form} submit={{ ...submit, mutate: () => after && leaveTo(after) } as typeof submit}>
        {children}
        <div className={classes.foot}>
          {before ? (
            <Button variant="default" onClick={() => leaveTo(before)}>
              {t('kit.back')}
            </Button>
          ) : (
            <span />
          )}
          <div className={classes.end}>
            {form.isDirty() && (
              <Button
                variant="default"
                loading={submit.isPending}
                disabled={Boolean(refusal)}
                title={refusal}
                onClick={() => submit.mutate(form.getValues())}
              >
                {t('kit.save')}
              </Button>
            )}
            <Button type="submit" loading={submit.isPending}>
              {t('kit.next')}
            </Button>
          </div>
        </div>
      </SubmitForm>
    </>
  )
}
