import { Alert, Button, Group, Menu, Skeleton, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { CodeIcon } from '@primer/octicons-react'
import type { Template as TemplateRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { attributesQuery } from '../contacts/queries.ts'
import { useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Section } from '../kit/section.tsx'
import { useMissing } from '../session.ts'
import classes from './template.module.css'
import { TemplatePreview } from './template-preview.tsx'
import { TemplateMenu } from './templates.tsx'
import { VARIABLES, withVariable } from './variables.ts'

/** One template: its content beside what becomes of it. */
export function Template() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/templates/$id' })
  const navigate = useNavigate()
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
      lead={data.description}
      actions={<TemplateMenu template={data} variant="default" onDeleted={() => void navigate({ to: '/templates' })} />}
    >
      <div className={classes.columns}>
        <Section title={t('templates.content')}>
          <Editor template={data} />
        </Section>
        <TemplatePreview template={data} />
      </div>
    </Page>
  )
}

function Editor({ template }: { template: TemplateRecord }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('templates.update')
  const { _id, name, subject, html, text, description } = template
  const initialValues = { name, subject: subject ?? '', html, text: text ?? '', description }
  const form = useForm({ initialValues })
  const submit = useSubmit(form, {
    send: values =>
      rollcall.templates.update(_id, { ...values, subject: values.subject || null, text: values.text || null }),
    done: t('templates.saved'),
    onDone: () => form.resetDirty(),
  })
  const input = useRef<HTMLTextAreaElement>(null)
  const insert = (path: string) => {
    const { selectionStart: from = 0, selectionEnd: to = 0 } = input.current ?? {}
    form.setFieldValue('html', withVariable(form.values.html, path, from, to))
    input.current?.focus()
  }
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
      <Stack gap={6}>
        <Textarea
          ref={input}
          label={t('templates.html')}
          required
          autosize
          minRows={14}
          maxRows={32}
          spellCheck={false}
          classNames={{ input: classes.code }}
          {...form.getInputProps('html')}
        />
        <Group>
          <InsertVariable onInsert={insert} />
        </Group>
      </Stack>
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
      {form.isDirty() && <Alert color="orange">{t('templates.unsaved')}</Alert>}
      <Group>
        <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal)} title={refusal}>
          {t('templates.save')}
        </Button>
      </Group>
    </SubmitForm>
  )
}

function InsertVariable({ onInsert }: { onInsert: (path: string) => void }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const { data: attributes = [] } = useQuery({ ...attributesQuery, enabled: !missing('attributes.list') })
  return (
    <Menu position="bottom-start" width={260} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<CodeIcon size={14} />}>
          {t('templates.insert')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {(Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]).map(group => (
          <div key={group}>
            <Menu.Label>{t(`templates.${group}`)}</Menu.Label>
            {VARIABLES[group].map(({ path, name }) => (
              <Menu.Item key={path} onClick={() => onInsert(path)}>
                {t(`templates.variable.${name}`)}
              </Menu.Item>
            ))}
            {group === 'contact' &&
              attributes.map(({ slug, name }) => (
                <Menu.Item key={slug} onClick={() => onInsert(`contact.attributes.${slug}`)}>
                  {name}
                </Menu.Item>
              ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
