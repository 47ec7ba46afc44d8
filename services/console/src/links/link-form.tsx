import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Link } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { fromLocal, toLocal } from '../kit/local-time.ts'

/** Creates or edits a short link. */
export function LinkForm({
  link,
  onClose,
  onCreated,
}: {
  link?: Link
  onClose: () => void
  onCreated?: (link: Link) => void
}) {
  const { t } = useTranslation()
  const form = useForm({
    initialValues: {
      url: link?.url ?? '',
      slug: link?.slug ?? '',
      title: link?.title ?? '',
      expiresAt: link?.expiresAt ? toLocal(new Date(link.expiresAt)) : '',
    },
  })
  const submit = useSubmit(form, {
    send: async ({ url, slug, title, expiresAt }): Promise<Link | undefined> => {
      const at = fromLocal(expiresAt) ?? null
      if (!link) return rollcall.links.create({ url, title, expiresAt: at, ...(slug && { slug }) })
      await rollcall.links.update(link._id, { url, title, ...(form.isDirty('expiresAt') && { expiresAt: at }) })
      return undefined
    },
    ...(link && { done: t('kit.saved') }),
    onDone: created => {
      onClose()
      if (created) onCreated?.(created)
    },
  })
  const call = link ? 'links.update' : 'links.create'
  return (
    <FormModal
      title={t(link ? 'links.edit' : 'links.create')}
      form={form}
      submit={submit}
      action={t(link ? 'kit.save' : 'kit.create')}
      onClose={onClose}
    >
      <TextInput
        label={t('links.url')}
        type="url"
        autoComplete="off"
        placeholder="https://"
        required
        data-autofocus
        {...fieldProps(call, 'url')}
        {...form.getInputProps('url')}
      />
      {!link && (
        <TextInput
          label={t('links.slug')}
          description={t('links.slugHint')}
          autoComplete="off"
          leftSection="/l/"
          {...fieldProps('links.create', 'slug')}
          {...form.getInputProps('slug')}
        />
      )}
      <TextInput
        label={t('links.name')}
        autoComplete="off"
        {...fieldProps(call, 'title')}
        {...form.getInputProps('title')}
      />
      <TextInput
        type="datetime-local"
        label={t('links.expires')}
        description={t('links.expiresHint')}
        {...form.getInputProps('expiresAt')}
      />
    </FormModal>
  )
}
