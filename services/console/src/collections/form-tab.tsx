import {
  Alert,
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { LinkExternalIcon } from '@primer/octicons-react'
import type { Collection } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { openListsQuery, tagsQuery, useAttributes } from '../contacts/queries.ts'
import { useRefusal } from '../kit/action.tsx'
import { CodeBlock } from '../kit/code-block.tsx'
import { fieldProps, SubmitForm, useSubmit } from '../kit/form-modal.tsx'
import { Section } from '../kit/section.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { definitionOf, draftOf, type FormDraft, fetchSnippet, fieldsOf, formUrl, htmlSnippet } from './form-draft.ts'
import { FormPreview } from './form-preview.tsx'
import classes from './form-tab.module.css'

const OFFERED_TAGS = 100
const CALL = 'collections.update'

type Form = UseFormReturnType<{ form: FormDraft }>

/** The public form of a collection: its settings, what it looks like, and how to embed it. */
export function FormTab({ collection }: { collection: Collection }) {
  const { t } = useTranslation()
  const refusal = useRefusal()(CALL)
  const form = useForm({ initialValues: { form: draftOf(collection) } })
  const submit = useSubmit(form, {
    send: values => rollcall.collections.update(collection._id, { form: definitionOf(values.form) }),
    done: t('kit.saved'),
    placeOf: { 'form.no_sender': 'form.contact.doubleOptIn' },
  })
  useUnsaved(form.isDirty)
  return (
    <div className={classes.columns}>
      <SubmitForm form={form} submit={submit}>
        <div className={classes.settings}>
          <Settings form={form} />
          <Contacts form={form} collection={collection} />
        </div>
        <Group gap="sm">
          <Button type="submit" loading={submit.isPending} disabled={Boolean(refusal)} title={refusal}>
            {t('collections.form.save')}
          </Button>
          {!collection.form && (
            <Text size="sm" c="dimmed">
              {t('collections.form.notYet')}
            </Text>
          )}
        </Group>
      </SubmitForm>
      <div className={classes.aside}>
        <Section title={t('collections.form.preview')} action={<OpenForm collection={collection} />}>
          <FormPreview fields={collection.fields} draft={form.values.form} />
        </Section>
        <Embed collection={collection} draft={form.values.form} />
      </div>
    </div>
  )
}

function Settings({ form }: { form: Form }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md">
      <Switch
        label={t('collections.form.enabled')}
        description={t('collections.form.enabledHint')}
        {...form.getInputProps('form.enabled', { type: 'checkbox' })}
      />
      <TextInput
        label={t('collections.form.title')}
        autoComplete="off"
        {...fieldProps(CALL, 'form.title')}
        {...form.getInputProps('form.title')}
      />
      <TextInput
        label={t('collections.form.submitLabel')}
        placeholder={t('collections.form.submit')}
        autoComplete="off"
        {...fieldProps(CALL, 'form.submitLabel')}
        {...form.getInputProps('form.submitLabel')}
      />
      <TextInput
        label={t('collections.form.redirectUrl')}
        description={t('collections.form.redirectHint')}
        placeholder="https://"
        inputMode="url"
        autoComplete="off"
        {...form.getInputProps('form.redirectUrl')}
      />
      <TagsInput
        label={t('collections.form.allowedOrigins')}
        description={t('collections.form.originsHint')}
        placeholder={form.values.form.allowedOrigins.length === 0 ? 'https://www.example.com' : ''}
        acceptValueOnBlur
        {...form.getInputProps('form.allowedOrigins')}
      />
    </Stack>
  )
}

/** What submissions make of contacts. */
function Contacts({ form, collection: { fields } }: { form: Form; collection: Collection }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('contacts.create')
  const emails = fieldsOf(fields, 'email')
  const { makesContacts } = form.values.form
  const isImpossible = emails.length === 0 ? t('collections.form.noEmailField') : refusal
  return (
    <Section title={t('collections.form.contacts')} lead={t('collections.form.contactsLead')}>
      <Switch
        label={t('collections.form.makesContacts')}
        description={makesContacts ? undefined : isImpossible}
        disabled={Boolean(isImpossible) && !makesContacts}
        {...form.getInputProps('form.makesContacts', { type: 'checkbox' })}
      />
      {makesContacts && (
        <div className={classes.mapping}>
          <Mapping form={form} fields={fields} />
          <Gets form={form} />
          <OptIn form={form} />
        </div>
      )}
    </Section>
  )
}

/** Which field goes where. */
function Mapping({ form, fields }: { form: Form; fields: Collection['fields'] }) {
  const { t } = useTranslation()
  const { data: attributes } = useAttributes()
  const options = (some: Collection['fields']) => some.map(({ slug, name }) => ({ value: slug, label: name }))
  const { attributes: mapped } = form.values.form.contact
  const isGone = (slug: string) => !attributes?.some(attribute => attribute.slug === slug)
  const gone = attributes ? Object.keys(mapped).filter(isGone) : []
  return (
    <div className={classes.pairs}>
      <Select
        label={t('collections.form.email')}
        required
        allowDeselect={false}
        data={options(fieldsOf(fields, 'email'))}
        {...form.getInputProps('form.contact.email')}
      />
      <Select
        label={t('collections.form.name')}
        placeholder={t('collections.form.noField')}
        clearable
        data={options(fieldsOf(fields, 'string'))}
        {...form.getInputProps('form.contact.name')}
      />
      {[...(attributes ?? []), ...gone.map(slug => ({ slug, name: slug }))].map(({ slug, name }) => (
        <Select
          key={slug}
          label={t('collections.form.attribute', { name })}
          placeholder={t('collections.form.noField')}
          clearable
          data={options(fields)}
          value={mapped[slug] ?? null}
          error={form.errors[`form.contact.attributes.${slug}`]}
          onChange={field => {
            const { [slug]: _, ...others } = mapped
            form.setFieldValue('form.contact.attributes', field ? { ...others, [slug]: field } : others)
          }}
        />
      ))}
    </div>
  )
}

/** What each contact gets. */
function Gets({ form }: { form: Form }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('lists.addMembers')
  const { data: tags = [] } = useQuery(tagsQuery)
  const { data: lists = [] } = useQuery(openListsQuery)
  return (
    <>
      <TagsInput
        label={t('collections.form.tags')}
        acceptValueOnBlur
        data={tags.slice(0, OFFERED_TAGS).map(({ tag }) => tag)}
        {...form.getInputProps('form.contact.tags')}
      />
      <MultiSelect
        label={t('collections.form.lists')}
        description={refusal}
        disabled={Boolean(refusal)}
        searchable
        data={lists.map(({ _id, name }) => ({ value: _id, label: name }))}
        {...form.getInputProps('form.contact.lists')}
      />
    </>
  )
}

function OptIn({ form }: { form: Form }) {
  const { t } = useTranslation()
  const { doubleOptIn } = form.values.form.contact
  const error = form.errors['form.contact.doubleOptIn']
  return (
    <>
      <Switch
        label={t('collections.form.doubleOptIn')}
        description={t('collections.form.doubleOptInHint')}
        {...form.getInputProps('form.contact.doubleOptIn', { type: 'checkbox' })}
        error={undefined}
      />
      {error && (
        <Alert color="red" role="alert" title={error}>
          <Link to="/senders" className="rc-link">
            {t('collections.form.toSenders')}
          </Link>
        </Alert>
      )}
      {doubleOptIn && (
        <Textarea
          label={t('collections.form.consent')}
          description={t('collections.form.consentHint')}
          autosize
          minRows={2}
          {...fieldProps(CALL, 'form.contact.consent')}
          {...form.getInputProps('form.contact.consent')}
        />
      )}
    </>
  )
}

/** A link to the form's own page, once there is one. */
function OpenForm({ collection: { _id, form } }: { collection: Collection }) {
  const { t } = useTranslation()
  if (!form?.enabled) return null
  return (
    <>
      <Button component={Link} to="." search={{ filter: { source: 'form' } } as never} variant="subtle">
        {t('collections.form.submissions')}
      </Button>
      <Button
        component="a"
        href={formUrl(_id, '')}
        target="_blank"
        rel="noopener"
        variant="default"
        leftSection={<LinkExternalIcon size={14} />}
      >
        {t('collections.form.open')}
      </Button>
    </>
  )
}

const WAYS = ['link', 'html', 'fetch'] as const

function Embed({ collection, draft }: { collection: Collection; draft: FormDraft }) {
  const { t } = useTranslation()
  const [way, setWay] = useState<(typeof WAYS)[number]>('link')
  const { origin } = window.location
  const embedded = { ...collection, form: draft }
  const snippets = {
    link: formUrl(collection._id, origin),
    html: htmlSnippet(embedded, origin, t('collections.form.submit')),
    fetch: fetchSnippet(collection, origin),
  }
  return (
    <Section
      title={t('collections.form.embed')}
      action={
        <SegmentedControl
          size="xs"
          aria-label={t('collections.form.embed')}
          data={WAYS.map(value => ({ value, label: t(`collections.form.ways.${value}`) }))}
          value={way}
          onChange={value => setWay(value as typeof way)}
        />
      }
    >
      <CodeBlock text={snippets[way]} what={t(`collections.form.ways.${way}`)} />
      <Text size="sm" c="dimmed" mt="xs">
        {t(`collections.form.hints.${way}`)}
      </Text>
    </Section>
  )
}
