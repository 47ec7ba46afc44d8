import { TagsInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Campaign } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { useMe } from '../session.ts'

const MAX_ADDRESSES = 5

/** Sends a campaign to some addresses as a test. */
export function SendTest({ campaign: { _id }, onClose }: { campaign: Campaign; onClose: () => void }) {
  const { t } = useTranslation()
  const { user } = useMe()
  const form = useForm({ initialValues: { to: [user.email] } })
  const submit = useSubmit(form, {
    send: values => rollcall.campaigns.test(_id, values),
    done: t('campaigns.test.done', { to: form.values.to.join(', ') }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('campaigns.test.title')}
      form={form}
      submit={submit}
      action={t('campaigns.test.action')}
      onClose={onClose}
      isIncomplete={form.values.to.length === 0}
    >
      <Text size="md">{t('campaigns.test.text')}</Text>
      <TagsInput
        label={t('campaigns.test.to')}
        description={t('campaigns.test.hint')}
        maxTags={MAX_ADDRESSES}
        acceptValueOnBlur
        data-autofocus
        {...form.getInputProps('to')}
      />
    </FormModal>
  )
}
