import { Alert, Checkbox, Group, NativeSelect, Pagination, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
import { AlertIcon, ChevronDownIcon, ChevronUpIcon } from '@primer/octicons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { isStatus } from '../api.ts'
import { isNarrowed, nextSort, PAGE_SIZES, USUAL_SIZE } from './list-search.ts'
import { ProblemAlert } from './problem-alert.tsx'
import classes from './record-table.module.css'
import type { ListView } from './use-list.ts'

export type Column<T> = {
  name: string
  title: string
  render: (record: T) => ReactNode
  /** The field that it sorts by. */
  sort?: string
  width?: number | string
  align?: 'right'
  /** Left out on narrow screens. */
  isMinor?: boolean
}

export type Selection = { ids: ReadonlySet<string>; change: (ids: ReadonlySet<string>) => void }

const SKELETON_ROWS = 8

/** A page of records with sorting, paging and selection; its state is that of `useList`. */
export function RecordTable<T extends { _id: string }>({
  label,
  view,
  columns,
  empty,
  selection,
  nameOf,
  actions,
  onPeek,
}: {
  /** What a screen reader calls the table. */
  label: string
  view: ListView<T>
  columns: readonly Column<T>[]
  /** Shown instead of the table while there are no records at all. */
  empty: ReactNode
  selection?: Selection
  /** Names a record, for its checkbox and its menu. */
  nameOf: (record: T) => string
  /** What stands at the end of a row. */
  actions?: (record: T) => ReactNode
  /** Shows a record beside the table: a click beside the links and controls of its row. */
  onPeek?: (record: T) => void
}) {
  const { t } = useTranslation()
  const { query, search, change, usualSort, isFilterDropped } = view
  const body = useRef<HTMLTableSectionElement>(null)
  useRowKeys(body)
  if (query.error && !query.data) return <ListProblem view={view} error={query.error} />
  const page = query.data
  if (page?.totalDocs === 0 && !isNarrowed(search)) return empty
  const records = page?.docs ?? []
  return (
    <div className={classes.frame}>
      {isFilterDropped && (
        <Alert
          color="yellow"
          icon={<AlertIcon />}
          role="status"
          className={classes.dropped}
          withCloseButton
          closeButtonLabel={t('kit.close')}
          onClose={() => change({}, { replace: true })}
        >
          {t('kit.filter.dropped')}
        </Alert>
      )}
      <Table.ScrollContainer minWidth={0} type="native" className={`${classes.scroll} rc-stack`}>
        <Table aria-label={label} aria-busy={query.isFetching} className={classes.table}>
          <Table.Thead>
            <Table.Tr>
              {selection && (
                <Table.Th className={classes.check}>
                  <SelectPage selection={selection} ids={records.map(({ _id }) => _id)} />
                </Table.Th>
              )}
              {columns.map(column => (
                <Header
                  key={column.name}
                  column={column}
                  sort={search.sort}
                  usual={usualSort}
                  onSort={sort => change({ sort })}
                />
              ))}
              {actions && (
                <Table.Th w={48}>
                  <span className="rc-hidden">{t('kit.table.actions')}</span>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody ref={body} data-stale={query.isPlaceholderData || undefined}>
            {page
              ? records.map(record => (
                  <Table.Tr
                    key={record._id}
                    data-selected={selection?.ids.has(record._id) || undefined}
                    data-peek={onPeek && true}
                    onClick={event => isBeside(event) && onPeek?.(record)}
                  >
                    {selection && (
                      <Table.Td className={classes.check} data-check>
                        <Checkbox
                          size="xs"
                          aria-label={t('kit.table.select', { name: nameOf(record) })}
                          checked={selection.ids.has(record._id)}
                          onChange={() => selection.change(toggled(selection.ids, record._id))}
                        />
                      </Table.Td>
                    )}
                    {columns.map(({ name, title, render, align, isMinor }, index) => (
                      <Table.Td
                        key={name}
                        ta={align}
                        data-minor={isMinor || undefined}
                        {...(index === 0 && { className: classes.main, 'data-main': true })}
                        {...(align && { 'data-label': title })}
                      >
                        {render(record)}
                      </Table.Td>
                    ))}
                    {actions && (
                      <Table.Td ta="right" data-actions>
                        {actions(record)}
                      </Table.Td>
                    )}
                  </Table.Tr>
                ))
              : Array.from({ length: SKELETON_ROWS }, (_, row) => (
                  <Table.Tr key={row}>
                    {selection && <Table.Td />}
                    {columns.map(({ name, isMinor }, column) => (
                      <Table.Td key={name} data-minor={isMinor || undefined}>
                        <Skeleton height={10} width={`${column === 0 ? 70 : 45}%`} />
                      </Table.Td>
                    ))}
                    {actions && <Table.Td />}
                  </Table.Tr>
                ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {page?.totalDocs === 0 && (
        <div className={classes.nothing}>
          <Text fw={550}>{t('kit.table.nothing')}</Text>
          <UnstyledButton className={classes.clear} onClick={() => change({ q: undefined, filter: undefined })}>
            {t('kit.table.clear')}
          </UnstyledButton>
        </div>
      )}
      {page && page.totalDocs > 0 && <Footer view={view} total={page.totalDocs} pages={page.totalPages} />}
    </div>
  )
}

/** Says why there is no list. A filter that the API refuses can only be taken away. */
function ListProblem<T>({ view: { query, search, change }, error }: { view: ListView<T>; error: Error }) {
  const { t } = useTranslation()
  const isRefused = isStatus(error, 400) && error.path?.split('.')[0] === 'filter' && isNarrowed(search)
  if (!isRefused) return <ProblemAlert error={error} onRetry={query.refetch} />
  return (
    <ProblemAlert
      error={error}
      action={t('kit.table.clear')}
      onRetry={() => change({ q: undefined, filter: undefined })}
    />
  )
}

/** Whether a click in a row meets neither a link nor a control, and selects no text. */
function isBeside({ target, currentTarget }: { target: EventTarget; currentTarget: Element }): boolean {
  const element = target as Element
  if (!currentTarget.contains(element) || element.closest('a, button, input, label')) return false // menus are elsewhere
  return getSelection()?.isCollapsed !== false
}

function Header<T>({
  column,
  sort,
  usual,
  onSort,
}: {
  column: Column<T>
  sort: string | undefined
  usual: string | undefined
  onSort: (sort: string | undefined) => void
}) {
  const { title, width, align, isMinor } = column
  const attributes = { w: width, ta: align, 'data-minor': isMinor || undefined } as const
  if (!column.sort) return <Table.Th {...attributes}>{title}</Table.Th>
  const field = column.sort
  const direction = sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : 'none'
  return (
    <Table.Th {...attributes} aria-sort={direction}>
      <UnstyledButton
        className={classes.sort}
        data-active={direction !== 'none' || undefined}
        onClick={() => onSort(nextSort(sort, field, usual))}
      >
        {title}
        {direction === 'descending' ? <ChevronDownIcon size={12} /> : <ChevronUpIcon size={12} />}
      </UnstyledButton>
    </Table.Th>
  )
}

function SelectPage({ selection: { ids, change }, ids: onPage }: { selection: Selection; ids: string[] }) {
  const { t } = useTranslation()
  const count = onPage.filter(id => ids.has(id)).length
  const isAll = onPage.length > 0 && count === onPage.length
  return (
    <Checkbox
      size="xs"
      aria-label={t('kit.table.selectPage')}
      checked={isAll}
      indeterminate={count > 0 && !isAll}
      onChange={() => {
        const others = [...ids].filter(id => !onPage.includes(id))
        change(new Set(isAll ? others : [...others, ...onPage]))
      }}
    />
  )
}

function Footer<T>({ view: { search, change }, total, pages }: { view: ListView<T>; total: number; pages: number }) {
  const { t, i18n } = useTranslation()
  const { page = 1, size = USUAL_SIZE } = search
  const number = (value: number) => value.toLocaleString(i18n.language)
  const first = (page - 1) * size + 1
  return (
    <Group className={classes.footer} gap="sm">
      <Text size="sm" c="dimmed" className="rc-tabular" role="status">
        {t('kit.table.range', {
          first: number(first),
          last: number(Math.min(total, page * size)),
          total: number(total),
        })}
      </Text>
      {total > PAGE_SIZES[0] && (
        <NativeSelect
          size="xs"
          w={76}
          ml="auto"
          aria-label={t('kit.table.size')}
          data={PAGE_SIZES.map(String)}
          value={String(size)}
          onChange={event => change({ size: Number(event.currentTarget.value) })}
        />
      )}
      {pages > 1 && (
        <Pagination
          size="sm"
          total={pages}
          value={page}
          onChange={page => change({ page })}
          siblings={1}
          boundaries={1}
          getItemProps={page => ({ 'aria-label': t('kit.table.page', { page }) })}
          getControlProps={control => ({ 'aria-label': t(`kit.table.${control}`) })}
        />
      )}
    </Group>
  )
}

/** j and k go through the rows, x selects one, as long as nobody types. */
function useRowKeys(body: { current: HTMLTableSectionElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        target.closest('input:not([type=checkbox]), textarea, select, [role=dialog], [role=menu]')
      )
        return
      const rows = [...(body.current?.rows ?? [])]
      const at = rows.findIndex(row => row.contains(document.activeElement))
      if (event.key === 'j' || event.key === 'k') {
        const row = rows[Math.min(rows.length - 1, Math.max(0, at + (event.key === 'j' ? 1 : -1)))]
        row?.querySelector<HTMLElement>('a, button')?.focus()
      }
      if (event.key === 'x' && at >= 0) rows[at]?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [body])
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}
