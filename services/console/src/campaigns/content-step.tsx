import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Campaign } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { fieldProps } from '../kit/form-modal.tsx'
import { MailPreview } from '../kit/mail-preview.tsx'
import { HtmlField } from '../templates/html-field.tsx'
import { STARTER } from '../templates/starter.ts'
import classes from './edit-campaign.module.css'
import { allTemplatesQuery } from './queries.ts'
import { StepForm } from './step-form.tsx'

type Kind = 'template' | 'html' | 'text'

/** What the mail says: its subject, and a template or content of its own. */
export function ContentStep({ campaign }: { campaign: Campaign }) {
  const { t } = useTranslation()
  const { data: templates = [] } = useQuery(allTemplatesQuery)
  const { _id, name, subject, preheader, html, text, template } = campaign
  const form = useForm({
    initialValues: {
      name,
      subject,
      preheader: preheader ?? '',
      kind: kindOf(campaign),
      template,
      html: html ?? STARTER,
      text: text ?? '',
    },
  })
  const { values } = form
  const content = contentOf(values)
  const isEmpty = !content.template && !content.html && !content.text
  return (
    <StepForm
      campaign={campaign}
      step="content"
      form={form}
      toBody={({ name: newName, subject: newSubject, preheader: newPreheader, ...rest }) => ({
        name: newName,
        subject: newSubject,
        preheader: newPreheader || null,
        ...contentOf(rest),
      })}
    >
      <div className={classes.columns}>
        <div className={classes.fields}>
          <TextInput
            label={t('kit.field.name')}
            description={t('campaigns.nameHint')}
            autoComplete="off"
            {...fieldProps('campaigns.update', 'name')}
            required
            {...form.getInputProps('name')}
          />
          <TextInput
            label={t('campaigns.subject')}
            autoComplete="off"
            {...fieldProps('campaigns.update', 'subject')}
            required
            {...form.getInputProps('subject')}
          />
          <TextInput
            label={t('campaigns.preheader')}
            description={t('campaigns.preheaderHint')}
            autoComplete="off"
            {...fieldProps('campaigns.update', 'preheader')}
            {...form.getInputProps('preheader')}
          />
          <SegmentedControl
            aria-label={t('campaigns.contentFrom')}
            data={(['template', 'html', 'text'] as const).map(value => ({
              value,
              label: t(`campaigns.contentKinds.${value}`),
            }))}
            {...form.getInputProps('kind')}
          />
          {values.kind === 'template' && (
            <Select
              label={t('campaigns.template')}
              placeholder={t('campaigns.chooseTemplate')}
              nothingFoundMessage={t('campaigns.noTemplates')}
              searchable
              data={templates.map(({ _id: value, name: label }) => ({ value, label }))}
              {...form.getInputProps('template')}
            />
          )}
          {values.kind === 'html' && <HtmlField {...form.getInputProps('html')} />}
          {values.kind !== 'template' && (
            <Textarea
              label={t('templates.text')}
              {...(values.kind === 'html' && { description: t('templates.textHint') })}
              autosize
              minRows={values.kind === 'html' ? 3 : 14}
              maxRows={28}
              {...form.getInputProps('text')}
            />
          )}
        </div>
        {isEmpty ? (
          <div className={classes.hint}>{t('campaigns.previewEmpty')}</div>
        ) : (
          <MailPreview
            lead={t('campaigns.previewText')}
            rendering={{
              call: 'campaigns.preview',
              key: ['campaigns', _id],
              content: { subject: values.subject, preheader: values.preheader || null, ...content },
              render: (given, options) => rollcall.campaigns.preview(_id, given, options),
            }}
          />
        )}
      </div>
    </StepForm>
  )
}

function kindOf({ template, html, text }: Campaign): Kind {
  if (template || (!html && !text)) return 'template'
  return html ? 'html' : 'text'
}

/** Returns the content that is chosen, as the API takes it. */
function contentOf({
  kind,
  template,
  html,
  text,
}: {
  kind: Kind
  template: string | null
  html: string
  text: string
}) {
  if (kind === 'template') return { template }
  return { html: kind === 'html' ? html || null : null, text: text || null }
}
