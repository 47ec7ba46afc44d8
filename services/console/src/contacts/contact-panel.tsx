import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Copyable } from '../kit/copyable.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { SidePanel } from '../kit/side-panel.tsx'
import { Details } from './contact.tsx'
import { ContactStatus } from './contact-status.tsx'
import { contactQuery } from './queries.ts'

/** A contact beside the list: what is known of it. */
export function ContactPanel({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data: contact, error, refetch } = useQuery(contactQuery(id))
  return (
    <SidePanel title={contact ? contact.name || contact.email : t('contacts.title')}>
      {error && !contact && <ProblemAlert error={error} onRetry={refetch} />}
      {!error && !contact && <Skeleton height={240} />}
      {contact && (
        <>
          <Group gap="sm">
            <Copyable value={contact.email} what={t('kit.field.email')} />
            <ContactStatus contact={contact} />
          </Group>
          <Details contact={contact} />
          <div>
            <Button component={Link} to="/contacts/$id" params={{ id } as never} variant="default">
              {t('contacts.openPage')}
            </Button>
          </div>
        </>
      )}
    </SidePanel>
  )
}
