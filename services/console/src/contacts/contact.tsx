import { Group, Menu, Paper, Skeleton, Tabs, TagsInput, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import {
  BlockedIcon,
  CheckCircleIcon,
  DownloadIcon,
  PencilIcon,
  PersonIcon,
  ShieldXIcon,
  TrashIcon,
} from '@primer/octicons-react'
import type { Contact as ContactRecord } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction, useRefusal } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct, useConfirm } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { FormModal, fieldProps, useSubmit } from '../kit/form-modal.tsx'
import type { ListSearch } from '../kit/list-search.ts'
import { LoadMore } from '../kit/load-more.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { saveFile } from '../kit/save-file.ts'
import { Tag } from '../kit/status-chip.tsx'
import { useUndoToast } from '../kit/undo-toast.ts'
import { useChangeSearch } from '../kit/use-list.ts'
import { useLoadMore } from '../kit/use-load-more.ts'
import { When } from '../kit/when.tsx'
import { MessageStatus } from '../messages/message-status.tsx'
import { sentence } from '../server/texts.ts'
import { AttributeLine } from './attribute-line.tsx'
import classes from './contact.module.css'
import { ContactStatus } from './contact-status.tsx'
import { EditContact } from './edit-contact.tsx'
import { FieldChange } from './field-change.tsx'
import { LINK, LinkAccount, LinkedAccount } from './linked-account.tsx'
import { contactQuery, useAttributes } from './queries.ts'
import { type TagChange, withoutChange } from './tag-change.ts'
import { Timeline } from './timeline-tab.tsx'
import { useFieldWords } from './use-field-words.ts'

type Dialog = 'edit' | 'block' | 'link'

/** One contact: what is known, and everything that happened. */
export function Contact() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/contacts/$id' })
  const { tab = 'timeline' } = useSearch({ strict: false }) as ListSearch
  const change = useChangeSearch()
  const [dialog, setDialog] = useState<Dialog>()
  const { data: contact, error, refetch } = useQuery(contactQuery(id))
  const back = <BackLink to="/contacts">{t('contacts.back')}</BackLink>
  if (!contact)
    return (
      <Page title={t('contacts.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  return (
    <Page
      title={contact.name || contact.email}
      above={back}
      lead={
        <Group gap="sm">
          <Copyable value={contact.email} what={t('kit.field.email')} />
          <ContactStatus contact={contact} />
        </Group>
      }
      actions={<Actions contact={contact} onOpen={setDialog} />}
    >
      <div className={classes.columns}>
        <Details contact={contact} />
        <Tabs
          value={tab}
          onChange={value => change({ tab: value === 'timeline' ? undefined : (value ?? undefined) })}
          keepMounted={false}
        >
          <Tabs.List>
            <Tabs.Tab value="timeline">{t('contacts.timeline')}</Tabs.Tab>
            <Tabs.Tab value="changes">{t('contacts.changes')}</Tabs.Tab>
            <Tabs.Tab value="emails">{t('contacts.emails')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="timeline" pt="md">
            <Timeline id={id} />
          </Tabs.Panel>
          <Tabs.Panel value="changes" pt="md">
            <Changes id={id} />
          </Tabs.Panel>
          <Tabs.Panel value="emails" pt="md">
            <Emails id={id} />
          </Tabs.Panel>
        </Tabs>
      </div>
      {dialog === 'edit' && <EditContact contact={contact} onClose={() => setDialog(undefined)} />}
      {dialog === 'block' && <BlockForm contact={contact} onClose={() => setDialog(undefined)} />}
      {dialog === 'link' && <LinkAccount contact={contact} onClose={() => setDialog(undefined)} />}
    </Page>
  )
}

function Actions({ contact, onOpen }: { contact: ContactRecord; onOpen: (dialog: Dialog) => void }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const act = useAct()
  const navigate = useNavigate()
  const { failed } = useReports()
  const { _id, email } = contact
  const download = async () => {
    try {
      saveFile(await (await rollcall.contacts.data(_id)).blob(), `${email}.json`)
    } catch (error) {
      failed(error)
    }
  }
  const erase = async () => {
    const { jobId } = await rollcall.contacts.erase(_id)
    await navigate({ to: '/bulk/$id', params: { id: jobId } })
  }
  return (
    <>
      <Action call="contacts.update" variant="default" leftSection={<PencilIcon />} onClick={() => onOpen('edit')}>
        {t('kit.edit')}
      </Action>
      <MoreMenu name={email} variant="default">
        {contact.blocked ? (
          <MenuAction
            call="contacts.unblock"
            icon={<CheckCircleIcon />}
            onClick={() =>
              void act({ run: () => rollcall.contacts.unblock(_id), done: t('contacts.unblocked', { email }) })
            }
          >
            {t('contacts.unblock')}
          </MenuAction>
        ) : (
          <MenuAction call="contacts.block" icon={<BlockedIcon />} onClick={() => onOpen('block')}>
            {t('contacts.block')}
          </MenuAction>
        )}
        <MenuAction call={LINK} icon={<PersonIcon />} onClick={() => onOpen('link')}>
          {t(contact.user ? 'contacts.account.linkOther' : 'contacts.account.link')}
        </MenuAction>
        <MenuAction call="contacts.data" icon={<DownloadIcon />} onClick={() => void download()}>
          {t('contacts.data')}
        </MenuAction>
        <Menu.Divider />
        <MenuAction
          call="contacts.delete"
          danger
          icon={<TrashIcon />}
          onClick={() =>
            confirm({
              title: t('contacts.deleteTitle', { email }),
              text: t('contacts.deleteText'),
              action: t('contacts.delete'),
              run: () => rollcall.contacts.delete(_id),
              done: t('contacts.deleted', { email }),
              onDone: () => void navigate({ to: '/contacts' }),
            })
          }
        >
          {t('contacts.delete')}
        </MenuAction>
        <MenuAction
          call="contacts.erase"
          danger
          icon={<ShieldXIcon />}
          onClick={() =>
            confirm({
              title: t('contacts.eraseTitle', { email }),
              text: t('contacts.eraseText'),
              action: t('contacts.erase'),
              typed: email,
              run: erase,
              done: t('contacts.erasing', { email }),
            })
          }
        >
          {t('contacts.erase')}
        </MenuAction>
      </MoreMenu>
    </>
  )
}

function BlockForm({ contact: { _id, email }, onClose }: { contact: ContactRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { reason: '' } })
  const submit = useSubmit(form, {
    send: ({ reason }) => rollcall.contacts.block(_id, reason ? { reason } : {}),
    done: t('contacts.blocked', { email }),
    onDone: onClose,
  })
  return (
    <FormModal
      title={t('contacts.blockTitle', { email })}
      form={form}
      submit={submit}
      action={t('contacts.block')}
      onClose={onClose}
    >
      <Text size="md">{t('contacts.blockText')}</Text>
      <Textarea
        label={t('contacts.reason')}
        autosize
        minRows={2}
        data-autofocus
        {...fieldProps('contacts.block', 'reason')}
        {...form.getInputProps('reason')}
      />
    </FormModal>
  )
}

/** What is known of a contact, edited in place. */
export function Details({ contact }: { contact: ContactRecord }) {
  const { t } = useTranslation()
  const { data: lists, more } = useLoadMore(['contacts', contact._id, 'lists'], (part, options) =>
    rollcall.contacts.listLists(contact._id, part, options),
  )
  return (
    <Paper className={classes.details} withBorder>
      <Section title={t('contacts.attributes')}>
        <Attributes contact={contact} />
      </Section>
      <Section title={t('kit.field.tags')}>
        <TagEditor contact={contact} />
      </Section>
      <Section title={t('contacts.lists')}>
        <Group gap={6}>
          {lists?.docs.map(({ list }) => (
            <Link key={list._id} to="/lists/$id" params={{ id: list._id }} className={classes.plain}>
              <Tag>{list.name}</Tag>
            </Link>
          ))}
          {lists?.docs.length === 0 && (
            <Text c="dimmed" size="sm">
              {t('contacts.noLists')}
            </Text>
          )}
          <LoadMore more={more} />
        </Group>
      </Section>
      <Section title={t('contacts.details')}>
        {contact.blockedReason && <Line label={t('contacts.reason')}>{contact.blockedReason}</Line>}
        <Line label={t('contacts.account.title')}>{contact.user && <LinkedAccount contact={contact} />}</Line>
        <Line label={t('contacts.columns.source')}>{t(`contacts.source.${contact.source}`)}</Line>
        {contact.importJob && (
          <Line label={t('contacts.lastImport')}>
            <Link to="/imports/$id" params={{ id: contact.importJob }} className={classes.inline}>
              {t('contacts.source.import')}
            </Link>
          </Line>
        )}
        <Line label={t('kit.field.created')}>
          <When at={contact.createdAt} />
        </Line>
        <Line label={t('kit.field.updated')}>
          <When at={contact.updatedAt} />
        </Line>
        <Line label={t('kit.field.id')}>
          <Copyable value={contact._id} what={t('kit.field.id')} mono />
        </Line>
      </Section>
    </Paper>
  )
}

function Attributes({ contact }: { contact: ContactRecord }) {
  const { t } = useTranslation()
  const refusal = useRefusal()('attributes.list')
  const { data: attributes } = useAttributes()
  if (refusal) return <UnnamedAttributes contact={contact} refusal={refusal} />
  return (
    <>
      {attributes?.map(attribute => (
        <AttributeLine key={attribute.slug} contact={contact} attribute={attribute} />
      ))}
      {attributes?.length === 0 && (
        <Text c="dimmed" size="sm">
          {t('contacts.noAttributes')}
        </Text>
      )}
    </>
  )
}

/** The values of a contact, for people who may not read the definitions: only to be looked at, named after their slugs. */
function UnnamedAttributes({ contact, refusal }: { contact: ContactRecord; refusal: string }) {
  const { nameOf, shown } = useFieldWords([])
  return (
    <>
      {Object.keys(contact.attributes).map(slug => (
        <Line key={slug} label={nameOf(`attributes.${slug}`)}>
          {shown(`attributes.${slug}`, contact.attributes[slug])}
        </Line>
      ))}
      <Text c="dimmed" size="sm">
        {refusal}
      </Text>
    </>
  )
}

function TagEditor({ contact: { _id, tags } }: { contact: ContactRecord }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { failed } = useReports()
  const offerUndo = useUndoToast()
  const refusal = useRefusal()('contacts.replaceTags')
  const set = (next: string[]) => rollcall.contacts.replaceTags(_id, { tags: next })
  const undo = async (change: TagChange) => set(withoutChange((await rollcall.contacts.get(_id)).tags, change))
  const save = useMutation({
    scope: { id: `tags of ${_id}` }, // each change replaces all tags: one after the other
    mutationFn: ({ after }: TagChange) => set(after),
    onSuccess: (_, change) => {
      offerUndo(t('contacts.savedValue', { name: t('kit.field.tags') }), () => undo(change))
      return client.invalidateQueries()
    },
    onError: failed,
  })
  const shown = save.isPending ? save.variables.after : tags
  return (
    <TagsInput
      disabled={Boolean(refusal)}
      title={refusal}
      aria-label={t('kit.field.tags')}
      placeholder={shown.length === 0 ? t('contacts.addTag') : ''}
      value={shown}
      onChange={after => save.mutate({ before: shown, after })}
    />
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h2 className={classes.sectionTitle}>{title}</h2>
      {children}
    </section>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className={classes.line}>
      <span className={classes.label}>{label}</span>
      <span className={classes.value}>
        {children ?? (
          <Text span c="dimmed" size="sm">
            {t('contacts.noValue')}
          </Text>
        )}
      </span>
    </div>
  )
}

function Changes({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error, more } = useLoadMore(['contacts', id, 'changes'], (part, options) =>
    rollcall.contacts.listAttributesHistory(id, part, options),
  )
  if (error) return <ProblemAlert error={error} />
  if (!data) return <Skeleton height={160} />
  if (data.docs.length === 0) return <Text c="dimmed">{t('contacts.noChanges')}</Text>
  return (
    <>
      <ol className={classes.timeline}>
        {data.docs.map(({ _id, key, from, to, actor, at, row }) => (
          <li key={_id} className={classes.entry}>
            <div className={classes.entryText}>
              <FieldChange field={key} from={from} to={to} />
              <Text size="sm" c="dimmed">
                {actor.name}
                {row !== undefined && `, ${t('contacts.row', { row })}`}
                {' · '}
                <When at={at} />
              </Text>
            </div>
          </li>
        ))}
      </ol>
      <LoadMore more={more} />
    </>
  )
}

function Emails({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data, error, more } = useLoadMore(['contacts', id, 'emails'], (part, options) =>
    rollcall.contacts.listEmails(id, part, options),
  )
  if (error) return <ProblemAlert error={error} />
  if (!data) return <Skeleton height={160} />
  if (data.docs.length === 0) return <Text c="dimmed">{t('contacts.noEmails')}</Text>
  return (
    <>
      <ol className={classes.timeline}>
        {data.docs.map(({ _id, subject, sender, status, at, error: reason }) => (
          <li key={_id} className={classes.entry}>
            <div className={classes.entryText}>
              <Group gap="xs">
                <strong>{subject}</strong>
                <MessageStatus status={status} />
              </Group>
              <Text size="sm" c="dimmed">
                {sender}
                {' · '}
                <When at={at} />
              </Text>
              {reason && <Text size="sm">{sentence(reason)}</Text>}
            </div>
          </li>
        ))}
      </ol>
      <LoadMore more={more} />
    </>
  )
}
