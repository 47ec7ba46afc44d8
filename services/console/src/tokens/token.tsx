import { Group, Skeleton, TagsInput, Text, Tooltip } from '@mantine/core'
import { useForm } from '@mantine/form'
import { PlusIcon } from '@primer/octicons-react'
import type { Permission, Token as TokenRecord } from '@rollcall/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useAct } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/facts.tsx'
import { FormModal, useSubmit } from '../kit/form-modal.tsx'
import { Page } from '../kit/page.tsx'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { relativeTime } from '../kit/relative-time.ts'
import { Section } from '../kit/section.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { When } from '../kit/when.tsx'
import { ACTIONS, type Grants, grantsOf, pairsOf } from '../roles/matrix.ts'
import { permissionsQuery, rolesQuery } from '../roles/queries.ts'
import { useMissing } from '../session.ts'
import classes from './token.module.css'
import { TokenMenu, TokenStatus } from './tokens.tsx'
import { grantsUsed, levelOf, type Use, useOf } from './usage.ts'

const ALL = 1000

/** One token: what it may do, what it has done, and from where. */
export function Token() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/shell/tokens/$id' })
  const navigate = useNavigate()
  const [isEditing, setEditing] = useState(false)
  const {
    data: token,
    error,
    refetch,
  } = useQuery({
    queryKey: ['tokens', id],
    queryFn: ({ signal }) => rollcall.tokens.get(id, { signal }),
  })
  const back = <BackLink to="/tokens">{t('tokens.back')}</BackLink>
  if (!token)
    return (
      <Page title={t('tokens.title')} above={back}>
        {error ? <ProblemAlert error={error} onRetry={refetch} /> : <Skeleton height={240} />}
      </Page>
    )
  return (
    <Page
      title={token.name}
      above={back}
      lead={
        <Group gap="sm">
          <TokenStatus token={token} />
          {token.description && <span>{token.description}</span>}
        </Group>
      }
      actions={
        <>
          <ActiveButton token={token} />
          <TokenMenu token={token} variant="default" onDeleted={() => void navigate({ to: '/tokens' })} />
        </>
      }
    >
      <TokenFacts token={token} />
      <Usage token={token} />
      <Section
        title={t('tokens.addresses')}
        lead={t(token.allowedIps.length > 0 ? 'tokens.addressesSome' : 'tokens.addressesAny')}
        action={
          <Action call="tokens.setAllowedIps" variant="default" onClick={() => setEditing(true)}>
            {t('tokens.addressesEdit')}
          </Action>
        }
      >
        <Group gap={6}>
          {token.allowedIps.map(address => (
            <Tag key={address}>{address}</Tag>
          ))}
        </Group>
      </Section>
      {isEditing && <Addresses token={token} onClose={() => setEditing(false)} />}
    </Page>
  )
}

function ActiveButton({ token: { _id, name, active } }: { token: TokenRecord }) {
  const { t } = useTranslation()
  const act = useAct()
  return (
    <Action
      call="tokens.update"
      variant="default"
      onClick={() =>
        void act({
          run: () => rollcall.tokens.update(_id, { active: !active }),
          done: t(active ? 'tokens.deactivated' : 'tokens.activated', { name }),
        })
      }
    >
      {t(active ? 'tokens.deactivate' : 'tokens.activate')}
    </Action>
  )
}

function TokenFacts({ token }: { token: TokenRecord }) {
  const { t } = useTranslation()
  return (
    <Facts
      facts={{
        [t('tokens.preview')]: <code>{token.tokenPreview.split(':')[1]}</code>,
        [t('kit.field.role')]: token.role ? (
          <RecordLink to="/roles/$id" params={{ id: token.role }} name={token.role} />
        ) : (
          t('tokens.asCreator')
        ),
        [t('tokens.by')]: token.createdBy.name,
        [t('kit.field.created')]: <When at={token.createdAt} />,
        [t('tokens.expires')]: token.expiresAt ? <When at={token.expiresAt} /> : t('tokens.never'),
        [t('tokens.lastUsed')]: token.lastUsedAt ? (
          <>
            <When at={token.lastUsedAt} /> {token.lastUsedIp && t('tokens.from', { address: token.lastUsedIp })}
          </>
        ) : (
          t('tokens.never')
        ),
        [t('kit.field.id')]: <Copyable value={token._id} what={t('kit.field.id')} mono />,
      }}
    />
  )
}

/** What the token has used of what it may do, as a heat map; and a role of exactly that. */
function Usage({ token: { _id, name, role } }: { token: TokenRecord }) {
  const { t } = useTranslation()
  const missing = useMissing()
  const navigate = useNavigate()
  const { data: uses, error } = useQuery({
    queryKey: ['tokens', _id, 'usage'],
    queryFn: async ({ signal }) => (await rollcall.tokens.listUsage(_id, { limit: ALL }, { signal })).docs,
  })
  const mayReadRoles = !missing('roles.list')
  const { data: permissions } = useQuery({ ...permissionsQuery, enabled: mayReadRoles })
  const { data: roles } = useQuery({ ...rolesQuery, enabled: mayReadRoles })
  if (error) return <ProblemAlert error={error} />
  if (!uses || (mayReadRoles && !(permissions && roles))) return <Skeleton height={200} />
  const held = roles?.find(one => one.name === role)
  const granted = held && permissions && grantsOf(held.permissions, permissions)
  const used = grantsUsed(uses)
  const draft = () =>
    void navigate({ to: '/roles/new', search: { draft: { name: t('tokens.roleOf', { name }), permissions: used } } })
  return (
    <Section
      title={t('tokens.usage')}
      lead={
        granted
          ? t('tokens.usedOf', { used: pairsOf(used).length, granted: pairsOf(granted).length })
          : t('tokens.usageText')
      }
      action={
        uses.length > 0 && (
          <Action call="roles.save" variant="default" leftSection={<PlusIcon />} onClick={draft}>
            {t('tokens.makeRole')}
          </Action>
        )
      }
    >
      {uses.length === 0 && !granted ? (
        <Text c="dimmed">{t('tokens.unused')}</Text>
      ) : (
        <HeatMap uses={uses} granted={granted ?? {}} permissions={permissions ?? []} />
      )}
    </Section>
  )
}

function HeatMap({
  uses,
  granted,
  permissions,
}: {
  uses: readonly Use[]
  granted: Grants
  permissions: readonly Permission[]
}) {
  const { t } = useTranslation()
  const most = Math.max(...uses.map(({ count }) => count), 1)
  const known = [...permissions.map(({ resource }) => resource), ...uses.map(({ resource }) => resource)]
  const shown = [...new Set(known)].filter(
    resource => resource in granted || uses.some(use => use.resource === resource),
  )
  return (
    <div className={classes.frame}>
      <table className={classes.heat} aria-label={t('tokens.usage')}>
        <thead>
          <tr>
            <th>{t('roles.resource')}</th>
            {ACTIONS.map(action => (
              <th key={action}>{t(`roles.actions.${action}`)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(resource => (
            <tr key={resource}>
              <th scope="row">{resource}</th>
              {ACTIONS.map(action => (
                <td key={action}>
                  <Heat
                    use={useOf(uses, resource, action)}
                    most={most}
                    isGranted={granted[resource]?.includes(action) ?? false}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Heat({ use, most, isGranted }: { use: Use | undefined; most: number; isGranted: boolean }) {
  const { t, i18n } = useTranslation()
  if (!use) return isGranted ? <span className={classes.never}>{t('tokens.neverUsed')}</span> : null
  const last = t('tokens.lastAt', { when: relativeTime(new Date(use.lastAt), new Date(), i18n.language) })
  return (
    <Tooltip label={last}>
      <span className={classes.cell} data-level={levelOf(use.count, most)}>
        {use.count.toLocaleString(i18n.language)}
      </span>
    </Tooltip>
  )
}

function Addresses({ token: { _id, allowedIps }, onClose }: { token: TokenRecord; onClose: () => void }) {
  const { t } = useTranslation()
  const form = useForm({ initialValues: { cidrs: allowedIps } })
  const submit = useSubmit(form, {
    send: values => rollcall.tokens.setAllowedIps(_id, values),
    done: t('tokens.addressesSaved'),
    onDone: onClose,
  })
  return (
    <FormModal title={t('tokens.addresses')} form={form} submit={submit} action={t('kit.save')} onClose={onClose}>
      <TagsInput
        label={t('tokens.addressesLabel')}
        description={t('tokens.addressesHint')}
        data-autofocus
        {...form.getInputProps('cidrs')}
      />
    </FormModal>
  )
}
