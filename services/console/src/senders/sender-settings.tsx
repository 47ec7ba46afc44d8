import { Group, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Sender } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { Section } from '../kit/section.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import classes from './sender-settings.module.css'
import { SmtpFields, smtpOf, valuesOfSmtp } from './smtp-fields.tsx'

/** The settings of a sender that its owner can change. */
export function SenderSettings({ sender: { _id, name, replyTo, smtp } }: { sender: Sender }) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      name,
      replyTo: replyTo ?? '',
      smtp: valuesOfSmtp(smtp),
    },
  })
  const submit = useSubmit(form, {
    send: values =>
      rollcall.senders.update(_id, {
        name: values.name,
        replyTo: values.replyTo || null,
        ...(smtp && { smtp: { ...smtpOf(values.smtp), ...(values.smtp.username === '' && { username: null }) } }),
      }),
    done: t('senders.saved'),
    onDone: (_, sent) => {
      form.setFieldValue('smtp.password', '') // is not shown again
      form.resetDirty({ ...sent, smtp: { ...sent.smtp, password: '' } })
    },
  })
  useUnsaved(form.isDirty)
  const send = form.onSubmit(values => submit.mutate(values))
  return (
    <Section title={t('senders.settings')}>
      <div className={classes.card}>
        <SubmitForm form={form} submit={submit}>
          <Group grow align="flex-start">
            <TextInput
              label={t('kit.field.name')}
              autoComplete="off"
              {...fieldProps('senders.update', 'name')}
              {...form.getInputProps('name')}
            />
            <TextInput
              label={t('senders.replyTo')}
              type="email"
              autoComplete="off"
              {...form.getInputProps('replyTo')}
            />
          </Group>
          {smtp && <SmtpFields form={form} isStored />}
          <div>
            <Action call="senders.update" loading={submit.isPending} disabled={!form.isDirty()} onClick={() => send()}>
              {t('senders.save')}
            </Action>
          </div>
        </SubmitForm>
      </div>
    </Section>
  )
}
