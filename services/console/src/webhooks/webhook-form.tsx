import { ActionIcon, Button, Input, PasswordInput, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { PlusIcon, XIcon } from '@primer/octicons-react'
import type { CreatedWebhook, Webhook } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import { EventTypeTree } from './event-type-tree.tsx'
import { headersOf, type OwnHeader } from './own-headers.ts'
import classes from './webhooks.module.css'

const MAX_HEADERS = 10

/** Creates or edits an endpoint. */
export function WebhookForm({
  webhook,
  onClose,
  onCreated,
}: {
  webhook?: Webhook
  onClose: () => void
  onCreated?: (webhook: CreatedWebhook) => void
}) {
  const { t } = useTranslation()
  const stored = webhook?.headers.map((name): OwnHeader => ({ name, value: '', isStored: true })) ?? []
  const form = useForm({
    initialValues: {
      name: webhook?.name ?? '',
      url: webhook?.url ?? '',
      description: webhook?.description ?? '',
      scope: webhook && webhook.eventTypes.length > 0 ? 'some' : 'all',
      eventTypes: webhook?.eventTypes ?? [],
      headers: stored,
    },
    validate: {
      eventTypes: (types, { scope }) => (scope === 'some' && types.length === 0 ? t('webhooks.form.missing') : null),
    },
  })
  const submit = useSubmit(form, {
    send: async ({ name, url, description, scope, eventTypes, headers }): Promise<CreatedWebhook | undefined> => {
      const body = { name, url, description, eventTypes: scope === 'all' ? [] : eventTypes }
      if (!webhook) return rollcall.webhooks.create({ ...body, headers: headersOf(headers) as Record<string, string> })
      await rollcall.webhooks.update(webhook._id, {
        ...body,
        ...(form.isDirty('headers') && { headers: headersOf(headers) }),
      })
      return undefined
    },
    ...(webhook && { done: t('kit.saved') }),
    onDone: created => {
      if (created) onCreated?.(created)
      else onClose()
    },
  })
  const call = webhook ? 'webhooks.update' : 'webhooks.create'
  return (
    <FormModal
      title={t(webhook ? 'webhooks.edit' : 'webhooks.create')}
      form={form}
      submit={submit}
      action={t(webhook ? 'kit.save' : 'kit.create')}
      onClose={onClose}
      size="lg"
    >
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        data-autofocus
        {...fieldProps(call, 'name')}
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        type="url"
        autoComplete="off"
        placeholder="https://"
        {...fieldProps(call, 'url')}
        {...form.getInputProps('url')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        {...fieldProps(call, 'description')}
        {...form.getInputProps('description')}
      />
      <Radio.Group label={t('webhooks.form.events')} {...form.getInputProps('scope')}>
        <Stack gap="xs" mt={4}>
          <Radio value="all" label={t('webhooks.form.all')} />
          <Radio value="some" label={t('webhooks.form.some')} />
        </Stack>
      </Radio.Group>
      {form.values.scope === 'some' && (
        <EventTypeTree
          chosen={form.values.eventTypes}
          onChange={types => form.setFieldValue('eventTypes', types)}
          error={form.errors.eventTypes}
        />
      )}
      <OwnHeaders lines={form.values.headers} onChange={lines => form.setFieldValue('headers', lines)} />
    </FormModal>
  )
}

function OwnHeaders({ lines, onChange }: { lines: readonly OwnHeader[]; onChange: (lines: OwnHeader[]) => void }) {
  const { t } = useTranslation()
  const replace = (position: number, change: Partial<OwnHeader>) =>
    onChange(lines.map((line, other) => (other === position ? { ...line, ...change } : line)))
  return (
    <fieldset style={{ all: 'unset' }}>
      <Input.Label component="legend">{t('webhooks.form.headers')}</Input.Label>
      <Text size="xs" c="dimmed">
        {t('webhooks.form.headersHint')}
      </Text>
      <Stack gap="xs" mt="xs">
        {lines.map(({ name, value, isStored }, position) => (
          <div key={position} className={classes.header}>
            <TextInput
              aria-label={t('webhooks.form.header')}
              placeholder={t('webhooks.form.header')}
              autoComplete="off"
              readOnly={isStored}
              value={name}
              onChange={event => replace(position, { name: event.currentTarget.value })}
            />
            <PasswordInput
              aria-label={t('webhooks.form.value')}
              placeholder={t(isStored ? 'webhooks.form.unchanged' : 'webhooks.form.value')}
              autoComplete="off"
              visibilityToggleButtonProps={{ 'aria-label': t('kit.password.show') }}
              value={value}
              onChange={event => replace(position, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={34}
              aria-label={t('webhooks.form.removeHeader', { name })}
              onClick={() => onChange(lines.filter((_, other) => other !== position))}
            >
              <XIcon />
            </ActionIcon>
          </div>
        ))}
        {lines.length < MAX_HEADERS && (
          <div>
            <Button
              variant="default"
              leftSection={<PlusIcon size={14} />}
              onClick={() => onChange([...lines, { name: '', value: '', isStored: false }])}
            >
              {t('webhooks.form.addHeader')}
            </Button>
          </div>
        )}
      </Stack>
    </fieldset>
  )
}
