import {
  Button,
  Checkbox,
  Group,
  Menu,
  Modal,
  Select,
  Skeleton,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
  Tooltip,
  UnstyledButton,
} from '@mantine/core'
import { CheckIcon, CopyIcon, DashIcon, TrashIcon } from '@primer/octicons-react'
import type { Permission, Role as RoleRecord, SavedRole, User } from '@rollcall/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { Action, MenuAction } from '../kit/action.tsx'
import { BackLink } from '../kit/back-link.tsx'
import { useConfirm } from '../kit/confirm.tsx'
import { fieldProps } from '../kit/form-modal.tsx'
import { InTheWay } from '../kit/in-the-way.tsx'
import { MoreMenu } from '../kit/more-menu.tsx'
import { Page } from '../kit/page.tsx'
import { useReports } from '../kit/problem.ts'
import { ProblemAlert } from '../kit/problem-alert.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { useMe } from '../session.ts'
import { Comparison } from './comparison.tsx'
import en from './en.ts'
import { ACTIONS, type Grants, grantsOf, groupsOf, pairsOf, type RoleDraft, toggled, withActions } from './matrix.ts'
import { Pairs } from './pairs.tsx'
import { permissionsQuery, rolesQuery } from './queries.ts'
import classes from './role.module.css'

/** Records that are named when a role is to be deleted. */
const SHOWN_RECORDS = 10

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
  return <Editor key={role?._id ?? 'new'} {...(role && { role })} roles={roles.data} permissions={permissions.data} />
}

function Editor({
  role,
  roles,
  permissions,
}: {
  role?: RoleRecord
  roles: readonly RoleRecord[]
  permissions: readonly Permission[]
}) {
  const { t } = useTranslation()
  const { draft } = useSearch({ strict: false }) as { draft?: RoleDraft }
  const stored = {
    grants: role ? grantsOf(role.permissions, permissions) : (draft?.permissions ?? {}),
    name: role?.name ?? draft?.name ?? '',
    description: role?.description ?? '',
  }
  const [grants, setGrants] = useState<Grants>(stored.grants)
  const [name, setName] = useState(stored.name)
  const [kind, setKind] = useState<'api' | 'user'>(role && role.kind !== 'both' ? role.kind : 'api')
  const [description, setDescription] = useState(stored.description)
  const [isReviewing, setReviewing] = useState(false)
  const isFixed = role?.builtIn ?? false
  const isChanged =
    name !== stored.name || description !== stored.description || `${pairsOf(grants)}` !== `${pairsOf(stored.grants)}`
  // The API saves a role by its name: a new one would replace another of this name.
  const isTaken = !role && roles.some(other => other.name === name && [kind, 'both'].includes(other.kind))
  useUnsaved(() => isChanged)
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
            <Action
              call="roles.save"
              disabled={name === '' || isTaken || granted === 0 || (role !== undefined && !isChanged)}
              onClick={() => setReviewing(true)}
            >
              {t(role ? 'roles.review' : 'roles.create')}
            </Action>
            {role && <RoleMenu role={role} grants={grants} />}
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
                error={isTaken && t('roles.taken')}
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
      {role && <Comparison role={role} grants={grants} permissions={permissions} />}
      {isReviewing && (
        <Review role={{ name, kind, description, permissions: grants }} onClose={() => setReviewing(false)} />
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
    <Table.ScrollContainer minWidth={0} type="native" className={classes.matrix}>
      <Table aria-label={t('roles.permissions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('roles.resource')}</Table.Th>
            {ACTIONS.map(action => {
              const open = permissions.filter(
                ({ resource, actions }) => actions.includes(action) && mayGrant(`${resource}.${action}`),
              )
              const isAll = open.length > 0 && open.every(({ resource }) => grants[resource]?.includes(action))
              const title = t(`roles.actions.${action}`)
              return (
                <Table.Th key={action} className={classes.action}>
                  {isFixed ? (
                    title
                  ) : (
                    <UnstyledButton
                      className={classes.column}
                      aria-pressed={isAll}
                      title={t('roles.column', { action: title })}
                      onClick={() =>
                        onChange(
                          open.reduce(
                            (next, { resource }) =>
                              next[resource]?.includes(action) === isAll ? toggled(next, resource, action) : next,
                            grants,
                          ),
                        )
                      }
                    >
                      {title}
                    </UnstyledButton>
                  )}
                </Table.Th>
              )
            })}
          </Table.Tr>
        </Table.Thead>
        {groupsOf(permissions).map(({ name, permissions: group }) => (
          <Table.Tbody key={name}>
            <Table.Tr className={classes.group}>
              <Table.Th colSpan={ACTIONS.length + 1} scope="rowgroup">
                {t(`roles.groups.${name}`)}
              </Table.Th>
            </Table.Tr>
            {group.map(permission => (
              <MatrixRow
                key={permission.resource}
                permission={permission}
                grants={grants}
                isFixed={isFixed}
                mayGrant={mayGrant}
                onChange={onChange}
              />
            ))}
          </Table.Tbody>
        ))}
      </Table>
    </Table.ScrollContainer>
  )
}

function MatrixRow({
  permission: { resource, actions, description },
  grants,
  isFixed,
  mayGrant,
  onChange,
}: {
  permission: Permission
  grants: Grants
  isFixed: boolean
  mayGrant: (pair: string) => boolean
  onChange: (grants: Grants) => void
}) {
  const { t } = useTranslation()
  const held = grants[resource] ?? []
  const open = actions.filter(action => mayGrant(`${resource}.${action}`))
  const label = (
    <span className={classes.resource}>
      {resource in en.resources ? t(`roles.resources.${resource as keyof typeof en.resources}`) : description}{' '}
      <code>{resource}</code>
    </span>
  )
  return (
    <Table.Tr>
      <Table.Td>
        {isFixed ? (
          label
        ) : (
          <Checkbox
            size="xs"
            label={label}
            disabled={open.length === 0}
            checked={held.length === actions.length}
            indeterminate={held.length > 0 && held.length < actions.length}
            onChange={() => onChange(withActions(grants, resource, held.length === actions.length ? [] : open))}
          />
        )}
      </Table.Td>
      {ACTIONS.map(action => (
        <Table.Td key={action} className={classes.action} data-label={t(`roles.actions.${action}`)}>
          {actions.includes(action) && (
            <Cell
              name={t('roles.cell', { action: t(`roles.actions.${action}`), resource })}
              isGranted={held.includes(action)}
              isFixed={isFixed}
              isBeyond={!mayGrant(`${resource}.${action}`)}
              onToggle={() => onChange(toggled(grants, resource, action))}
            />
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function Cell({
  name,
  isGranted,
  isFixed,
  isBeyond,
  onToggle,
}: {
  name: string
  isGranted: boolean
  isFixed: boolean
  isBeyond: boolean
  onToggle: () => void
}) {
  const { t } = useTranslation()
  if (isFixed)
    return isGranted ? (
      <span className={classes.granted}>
        <CheckIcon aria-label={t('kit.yes')} />
      </span>
    ) : (
      <span className={classes.denied}>
        <DashIcon aria-label={t('kit.no')} />
      </span>
    )
  return (
    <Tooltip label={t('roles.beyond')} disabled={!isBeyond}>
      <Checkbox
        size="xs"
        display="inline-block"
        aria-label={name}
        checked={isGranted}
        disabled={isBeyond}
        onChange={onToggle}
      />
    </Tooltip>
  )
}

function Review({
  role,
  onClose,
}: {
  role: { name: string; kind: 'api' | 'user'; description: string; permissions: Grants }
  onClose: () => void
}) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const { done } = useReports()
  const preview = useQuery({
    queryKey: ['roles', 'preview', role],
    queryFn: ({ signal }) => rollcall.roles.save({ ...role, dryRun: true }, { signal }),
    staleTime: 0,
  })
  const save = useMutation({
    mutationFn: () => rollcall.roles.save(role),
    onSuccess: async ({ name, affected }) => {
      done(t('roles.saved', { name, ...affected }))
      await client.invalidateQueries()
      onClose()
      await navigate({ to: '/roles/$id', params: { id: name }, ignoreBlocker: true })
    },
  })
  const error = save.error ?? preview.error
  return (
    <Modal opened onClose={onClose} title={t('roles.reviewTitle', { name: role.name })}>
      <Stack gap="md">
        {error && <ProblemAlert error={error} />}
        {preview.isPending && <Skeleton height={120} />}
        {preview.data && <Consequences change={preview.data} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('kit.cancel')}
          </Button>
          <Button disabled={!preview.data} loading={save.isPending} onClick={() => save.mutate()}>
            {t('roles.save')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Which permissions a change gives and takes, and who it concerns by name. */
function Consequences({ change: { gained, lost, affected, affectedNames } }: { change: SavedRole }) {
  const { t } = useTranslation()
  return (
    <>
      <Pairs title={t('roles.gained')} pairs={gained} tone="good" />
      <Pairs title={t('roles.lost')} pairs={lost} tone="bad" />
      <div>
        <Text fw={550} mb={4}>
          {t('roles.concerns')}
        </Text>
        {affected.tokens + affected.members === 0 ? (
          <Text c="dimmed" size="sm">
            {t('roles.nobody')}
          </Text>
        ) : (
          <>
            <Names title={t('roles.tokens')} count={affected.tokens} names={affectedNames.tokens} />
            <Names title={t('roles.members')} count={affected.members} names={affectedNames.members} />
          </>
        )}
      </div>
    </>
  )
}

function Names({ title, count, names }: { title: string; count: number; names: readonly string[] }) {
  const { t, i18n } = useTranslation()
  if (count === 0) return null
  const more = count - names.length
  return (
    <Text size="sm">
      <Text span c="dimmed">{`${title} (${count.toLocaleString(i18n.language)})`}</Text> {names.join(', ')}
      {more > 0 && ` ${t('roles.more', { count: more })}`}
    </Text>
  )
}

function RoleMenu({ role: { _id, name }, grants }: { role: RoleRecord; grants: Grants }) {
  const { t } = useTranslation()
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { failed } = useReports()
  const [members, setMembers] = useState<{ docs: User[]; totalDocs: number }>()
  const askToDelete = async () => {
    try {
      const query = { filter: { role: name }, limit: SHOWN_RECORDS }
      const { docs, totalDocs } = await rollcall.users.list(query)
      if (totalDocs > 0) return setMembers({ docs, totalDocs })
      const tokens = await rollcall.tokens.list(query)
      const names = tokens.docs.map(token => token.name).join(', ')
      confirm({
        title: t('roles.deleteTitle', { name }),
        text:
          tokens.totalDocs > 0 ? t('roles.deleteText', { count: tokens.totalDocs, names }) : t('roles.deleteUnused'),
        action: t('roles.delete'),
        run: () => rollcall.roles.delete(_id),
        done: t('roles.deleted', { name }),
        onDone: () => void navigate({ to: '/roles', ignoreBlocker: true }),
      })
    } catch (error) {
      failed(error)
    }
  }
  return (
    <>
      <MoreMenu name={name} variant="default">
        <MenuAction
          call="roles.save"
          icon={<CopyIcon />}
          onClick={() =>
            void navigate({
              to: '/roles/new',
              search: { draft: { name: t('roles.copyOf', { name }), permissions: grants } },
            })
          }
        >
          {t('roles.duplicate')}
        </MenuAction>
        <Menu.Divider />
        <MenuAction
          call={['roles.delete', 'users.list', 'tokens.list']}
          danger
          icon={<TrashIcon />}
          onClick={() => void askToDelete()}
        >
          {t('roles.delete')}
        </MenuAction>
      </MoreMenu>
      {members && (
        <InTheWay
          title={t('roles.inUse', { name })}
          text={t('roles.inUseText')}
          records={members.docs.map(({ _id: id, name: person, email }) => ({
            id,
            link: <RecordLink to="/users/$id" params={{ id }} name={person} detail={email} />,
          }))}
          total={members.totalDocs}
          onClose={() => setMembers(undefined)}
        />
      )}
    </>
  )
}
