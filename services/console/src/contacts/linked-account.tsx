import { Group, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Contact } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { useAct } from '../kit/confirm.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { UserLink } from '../users/user-link.tsx'
import { UserSelect } from '../users/user-select.tsx'

/** What it takes to choose an account and to link it. */
export const LINK = ['contacts.linkUser', 'users.list'] as const

/** The account that a contact is linked with, and the way to unlink it. */
export function LinkedAccount({ contact: { _id, user, email } }: { contact: Contact }) {
  const { t } = useTranslation()
  const act = useAct()
  if (typeof user !== 'string') return null
  return (
    <Group gap="xs" justify="space-between">
      <UserLink id={user} />
      <Action
        call="contacts.linkUser"
        variant="default"
        size="compact-sm"
        onClick={() =>
          void act({
            run: () => rollcall.contacts.linkUser(_id, { userId: null }),
            done: t('contacts.account.unlinked', { email }),
          })
        }
      >
        {t('contacts.account.unlink')}
      </Action>
    </Group>
  )
}

/** Asks which account belongs to a contact, and links it. */
export function LinkAccount({ contact: { _id, user, email }, onClose }: { contact: Contact; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { userId: null as string | null } })
  const submit = useSubmit(form, {
    send: ({ userId }) => rollcall.contacts.linkUser(_id, { userId }),
    done: t('contacts.account.linked', { email }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('contacts.account.linkTitle', { email })}
      form={form}
      submit={submit}
      action={t('contacts.account.link')}
      onClose={onClose}
    >
      <Text size="md">{t('contacts.account.text')}</Text>
      <UserSelect
        label={t('contacts.account.title')}
        without={[typeof user === 'string' ? user : null]}
        {...form.getInputProps('userId')}
      />
    </FormModal>
  )
}
