import {
  Button,
  Checkbox,
  Group,
  Modal,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core'
import { TrashIcon } from '@primer/octicons-react'
import type { Permission, Role as RoleRecord } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { fieldProps } from '../kit/form-modal.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { Tag } from '../kit/status-chip.tsx'
import { useMe } from '../session.ts'
import { ACTIONS, differences, type Grants, grantsOf, pairsOf, toggled, withActions } from './matrix.ts'
import { permissionsQuery, rolesQuery } from './queries.ts'
import classes from './role.module.css'

/** One role as a matrix, or a new one. */
export function Role() {
  const { t } = useTranslation()
  const { id } = useParams({ strict: false })
  const roles = useQuery(rolesQuery)
  const permissions = useQuery(permissionsQuery)
  const back = <BackLink to="/roles">{t('roles.back')}</BackLink>
  const error = roles.error ?? permissions.error
  const role = roles.data?.find(({ name }) => name === id)
  if (!roles.data || !permissions.data)
    return (
      <Page title={id ?? t('roles.new')} above={back}>
        {error ? <ProblemAlert error={error} /> : <Skeleton height={300} />}
      </Page>
    )
  if (id && !role)
    return (
      <Page title={t('shell.notFound.title')} above={back}>
        {null}
      </Page>
    )
  return <Editor key={role?._id ?? 'new'} {...(role && { role })} permissions={permissions.data} />
}

function Editor({ role, permissions }: { role?: RoleRecord; permissions: readonly Permission[] }) {
  const { t } = useTranslation()
  const before = role ? grantsOf(role.permissions, permissions) : {}
  const [grants, setGrants] = useState<Grants>(before)
  const [name, setName] = useState(role?.name ?? '')
  const [kind, setKind] = useState<'api' | 'user'>(role && role.kind !== 'both' ? role.kind : 'api')
  const [description, setDescription] = useState(role?.description ?? '')
  const [isReviewing, setReviewing] = useState(false)
  const isFixed = role?.builtIn ?? false
  const total = permissions.reduce((sum, { actions }) => sum + actions.length, 0)
  const granted = pairsOf(grants).length
  return (
    <Page
      title={role?.name ?? t('roles.new')}
      above={<BackLink to="/roles">{t('roles.back')}</BackLink>}
      lead={isFixed ? t('roles.readOnly') : role?.description}
      actions={
        !isFixed && (
          <>
            <Action call="roles.save" disabled={name === '' || granted === 0} onClick={() => setReviewing(true)}>
              {t(role ? 'roles.review' : 'roles.create')}
            </Action>
            {role && <RoleMenu role={role} />}
          </>
        )
      }
    >
      {!isFixed && (
        <Group align="flex-start" gap="md" grow maw={760}>
          {!role && (
            <>
              <TextInput
                label={t('kit.field.name')}
                autoComplete="off"
                {...fieldProps('roles.save', 'name')}
                value={name}
                onChange={event => setName(event.currentTarget.value)}
              />
              <Select
                label={t('kit.field.kind')}
                allowDeselect={false}
                data={(['api', 'user'] as const).map(value => ({ value, label: t(`roles.kinds.${value}`) }))}
                value={kind}
                onChange={value => setKind(value as typeof kind)}
              />
            </>
          )}
          <Textarea
            label={t('kit.field.description')}
            autosize
            {...fieldProps('roles.save', 'description')}
            value={description}
            onChange={event => setDescription(event.currentTarget.value)}
          />
        </Group>
      )}
      <section>
        <Group justify="space-between" mb="xs">
          <h2 className={classes.heading}>{t('roles.permissions')}</h2>
          <Text size="sm" c="dimmed" className="rc-tabular" role="status">
            {t('roles.granted', { granted, total })}
          </Text>
        </Group>
        <Matrix permissions={permissions} grants={grants} isFixed={isFixed} onChange={setGrants} />
      </section>
      {isReviewing && (
        <Review
          role={{ name, kind, description, permissions: grants }}
          before={before}
          counts={{ tokens: role?.tokenCount ?? 0, members: role?.memberCount ?? 0 }}
          onClose={() => setReviewing(false)}
        />
      )}
    </Page>
  )
}

function Matrix({
  permissions,
  grants,
  isFixed,
  onChange,
}: {
  permissions: readonly Permission[]
  grants: Grants
  isFixed: boolean
  onChange: (grants: Grants) => void
}) {
  const { t } = useTranslation()
  const { permissions: mine } = useMe()
  const mayGrant = (pair: string) => mine.includes('*') || mine.includes(pair)
  return (
    <Table.ScrollContainer minWidth={540} type="native" className={classes.matrix}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('roles.resource')}</Table.Th>
            {ACTIONS.map(action => (
              <Table.Th key={action} ta="center" w={90}>
                {t(`roles.actions.${action}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {permissions.map(({ resource, actions, description }) => {
            const held = grants[resource] ?? []
            const open = actions.filter(action => mayGrant(`${resource}.${action}`))
            return (
              <Table.Tr key={resource}>
                <Table.Td>
                  <Checkbox
                    size="xs"
                    aria-label={t('roles.all', { resource })}
                    label={
                      <span>
                        <strong>{resource}</strong>{' '}
                        <Text span size="sm" c="dimmed">
                          {description}
                        </Text>
                      </span>
                    }
                    disabled={isFixed || open.length === 0}
                    checked={held.length === actions.length}
                    indeterminate={held.length > 0 && held.length < actions.length}
                    onChange={() => onChange(withActions(grants, resource, held.length === actions.length ? [] : open))}
                  />
                </Table.Td>
                {ACTIONS.map(action => {
                  const isBeyond = !mayGrant(`${resource}.${action}`)
                  return (
                    <Table.Td key={action} ta="center">
                      {actions.includes(action) && (
                        <Tooltip label={t('roles.beyond')} disabled={!isBeyond || isFixed}>
                          <Checkbox
                            size="xs"
                            display="inline-block"
                            aria-label={t('roles.cell', { action: t(`roles.actions.${action}`), resource })}
                            checked={held.includes(action)}
                            disabled={isFixed || isBeyond}
                            onChange={() => onChange(toggled(grants, resource, action))}
                          />
                        </Tooltip>
                      )}
                    </Table.Td>
                  )
                })}
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Review({
  role,
  before,
  counts,
  onClose,
}: {
  role: { name: string; kind: 'api' | 'user'; description: string; permissions: Grants }
  before: Grants
  counts: { tokens: number; members: number }
  onClose: () => void
}) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { done } = useReports()
  const { gained, lost } = differences(before, role.permissions)
  const save = useMutation({
    mutationFn: () => rollcall.roles.save(role),
    onSuccess: async ({ name, affected }) => {
      done(t('roles.saved', { name, ...affected }))
      await client.invalidateQueries()
      onClose()
      await navigate({ to: '/roles/$id', params: { id: name } })
    },
  })
  return (
    <Modal opened onClose={onClose} title={t('roles.reviewTitle', { name: role.name })}>
      <Stack gap="md">
        {save.error && <ProblemAlert error={save.error} />}
        <Pairs title={t('roles.gained')} pairs={gained} />
        <Pairs title={t('roles.lost')} pairs={lost} />
        <Text c="dimmed" size="sm">
          {t('roles.affects', counts)}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('kit.cancel')}
          </Button>
          <Button loading={save.isPending} onClick={() => save.mutate()}>
            {t('roles.save')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Pairs({ title, pairs }: { title: string; pairs: readonly string[] }) {
  const { t } = useTranslation()
  return (
    <div>
      <Text fw={550} mb={4}>
        {title}
      </Text>
      {pairs.length === 0 ? (
        <Text c="dimmed" size="sm">
          {t('roles.nothing')}
        </Text>
      ) : (
        <Group gap={4}>
          {pairs.map(pair => (
            <Tag key={pair}>{pair}</Tag>
          ))}
        </Group>
      )}
    </div>
  )
}

function RoleMenu({ role: { _id, name, tokenCount } }: { role: RoleRecord }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const navigate = useNavigate()
  return (
    <MoreMenu name={name} variant="default">
      <MenuAction
        call="roles.delete"
        danger
        icon={<TrashIcon />}
        onClick={() =>
          confirm({
            title: t('roles.deleteTitle', { name }),
            text: t('roles.deleteText', { tokens: tokenCount }),
            action: t('roles.delete'),
            run: () => rollcall.roles.delete(_id),
            done: t('roles.deleted', { name }),
            onDone: () => void navigate({ to: '/roles' }),
          })
        }
      >
        {t('roles.delete')}
      </MenuAction>
    </MoreMenu>
  )
}
