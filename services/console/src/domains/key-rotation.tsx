import { Stepper, Text } from '@mantine/core'
import type { DnsRecord, Domain } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { Section } from '../kit/section.tsx'
import { rotationOf, selectorOf } from './zone.ts'

/** How far the change of the DKIM key is: which key signs, and what the next one waits for. */
export function KeyRotation({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const rotation = rotationOf(domain)
  if (!rotation) return null
  const current = selectorOf(rotation.current)
  const next = selectorOf(rotation.next)
  const isPublished = rotation.next.status === 'ok'
  return (
    <Section title={t('domains.rotation.title')} lead={t('domains.rotation.text', { current, next })}>
      <Stepper active={isPublished ? 2 : 1} size="sm" iconSize={28} orientation="vertical" allowNextStepsSelect={false}>
        <Stepper.Step label={t('domains.rotation.made')} description={next} allowStepSelect={false} />
        <Stepper.Step
          label={t('domains.rotation.publish')}
          description={t(isPublished ? 'domains.rotation.published' : 'domains.rotation.publishText', { next })}
          allowStepSelect={false}
        />
        <Stepper.Step
          label={t('domains.rotation.verify')}
          description={t('domains.rotation.verifyText', { current, next })}
          allowStepSelect={false}
        />
      </Stepper>
    </Section>
  )
}

/** Says of a DKIM record whether its key signs, while there are two. */
export function KeyState({ domain, record }: { domain: Domain; record: DnsRecord }) {
  const { t } = useTranslation()
  const rotation = rotationOf(domain)
  if (!rotation || record.purpose !== 'dkim') return null
  return (
    <Text span size="sm" c="dimmed">
      {t(record.name === rotation.current.name ? 'domains.rotation.signs' : 'domains.rotation.waits')}
    </Text>
  )
}
