import { Stepper } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useTranslation } from 'react-i18next'
import classes from './steps.module.css'

/** Where one is in something that is done in steps; leads to the other steps. */
export function Steps<Step extends string>({
  steps,
  step,
  labelOf,
  failed = [],
  furthest,
  onGo,
}: {
  steps: readonly Step[]
  step: Step
  labelOf: (step: Step) => string
  /** Steps where something is to be mended. */
  failed?: readonly Step[]
  /** The last step that is open. Default: all are. */
  furthest?: Step
  onGo: (step: Step) => void
}) {
  const { t } = useTranslation()
  const last = furthest ? steps.indexOf(furthest) : steps.length
  return (
    <nav aria-label={t('kit.steps')}>
      <Stepper
        active={steps.indexOf(step)}
        onStepClick={index => onGo(steps[index]!)}
        size="sm"
        iconSize={28}
        classNames={{
          steps: classes.steps,
          step: classes.step,
          separator: classes.separator,
          stepBody: classes.stepBody,
        }}
      >
        {steps.map((each, index) => (
          <Stepper.Step
            key={each}
            label={labelOf(each)}
            allowStepSelect={index <= last}
            {...(failed.includes(each) && { color: 'red.8', completedIcon: <AlertIcon size={14} /> })}
            {...(each === step && { 'aria-current': 'step' as const })}
          />
        ))}
      </Stepper>
    </nav>
  )
}
