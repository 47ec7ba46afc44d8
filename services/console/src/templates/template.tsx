import { Button, Group, Skeleton, Text, Textarea, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { PaperAirplaneIcon } from '@primer/octicons-react'
import type { Template as TemplateRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { MailPreview } from '../kit/mail-preview.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { HtmlField } from './html-field.tsx'
import classes from './template.module.css'
import { TemplateMenu } from './templates.tsx'

const SendTest = lazy(async () => ({ default: (await import('./send-test.tsx')).SendTest }))

/** One template: its content beside what becomes of it. */
export function Template() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/templates/$id' })
  const navigate = useNavigate()
  const [isTesting, setTesting] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: ['templates', id],
    queryFn: ({ signal }) => rollcall.templates.get(id, { signal }),
  })
  const back = <BackLink to="/templates">{t('templates.back')}</BackLink>
  if (!data)
    return (
      <Page title={t('templates.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  return (
    <Page
      title={data.name}
      above={back}
      lead={data.description || t('templates.subtitle')}
      actions={
        <>
          <Action
            call="messages.send"
            variant="default"
            leftSection={<PaperAirplaneIcon />}
            onClick={() => setTesting(true)}
          >
            {t('templates.test.action')}
          </Action>
          <TemplateMenu
            template={data}
            variant="default"
            onDeleted={() => void navigate({ to: '/templates', ignoreBlocker: true })}
          />
        </>
      }
    >
      <Content template={data} />
      <Suspense>{isTesting && <SendTest template={data} onClose={() => setTesting(false)} />}</Suspense>
    </Page>
  )
}

type Values = Pick<TemplateRecord, 'name' | 'html' | 'description'> & { subject: string; text: string }

function Content({ template }: { template: TemplateRecord }) {
  const { t } = useTranslation()
  const { _id, name, subject, html, text, description } = template
  const initialValues: Values = { name, subject: subject ?? '', html, text: text ?? '', description }
  const form = useForm({ initialValues })
  const { values } = form
  return (
    <div className={classes.columns}>
      <Section title={t('templates.content')}>
        <Editor id={_id} form={form} />
      </Section>
      <div className={classes.preview}>
        <MailPreview
          lead={t('templates.previewText')}
          rendering={{
            call: 'templates.preview',
            key: ['templates', _id],
            content: { subject: values.subject || null, html: values.html, text: values.text || null },
            render: (content, options) => rollcall.templates.preview(_id, content, options),
          }}
        />
      </div>
    </div>
  )
}

function Editor({ id, form }: { id: string; form: UseFormReturnType<Values> }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('templates.update')
  const submit = useSubmit(form, {
    send: values =>
      rollcall.templates.update(id, { ...values, subject: values.subject || null, text: values.text || null }),
    done: t('templates.saved'),
  })
  useUnsaved(form.isDirty)
  return (
    <SubmitForm form={form} submit={submit}>
      <TextInput
        label={t('kit.field.name')}
        autoComplete="off"
        {...fieldProps('templates.update', 'name')}
        required
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('templates.subject')}
        autoComplete="off"
        {...fieldProps('templates.update', 'subject')}
        {...form.getInputProps('subject')}
      />
      <HtmlField {...form.getInputProps('html')} />
      <Textarea
        label={t('templates.text')}
        description={t('templates.textHint')}
        autosize
        minRows={3}
        maxRows={16}
        {...form.getInputProps('text')}
      />
      <Textarea
        label={t('kit.field.description')}
        autosize
        {...fieldProps('templates.update', 'description')}
        {...form.getInputProps('description')}
      />
      <Group>
        <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal) || !form.isDirty()} title={refusal}>
          {t('templates.save')}
        </Button>
        {form.isDirty() && (
          <Text size="sm" c="dimmed" role="status">
            {t('templates.unsaved')}
          </Text>
        )}
      </Group>
    </SubmitForm>
  )
}
