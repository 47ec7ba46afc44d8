import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { allContactsQuery } from '../contacts/queries.ts'
import { allSegmentsQuery } from './queries.ts'
import { SegmentCount } from './segment-count.tsx'
import classes from './segment-rail.module.css'

/** Segments that the rail shows: each one is counted. */
const SHOWN = 20

/** Contacts beside the segments, each with how many contacts match it now. */
export function BesideSegments({ children }: { children: ReactNode }) {
  return (
    <div className={classes.beside}>
      <SegmentRail />
      <div className={classes.content}>{children}</div>
    </div>
  )
}

function SegmentRail() {
  const { t, i18n } = useTranslation()
  const { id } = useParams({ strict: false })
  const { data: segments } = useQuery(allSegmentsQuery)
  const { data: total } = useQuery(allContactsQuery)
  const shown = segments?.filter(({ _id }, index) => index < SHOWN || _id === id)
  const active = { activeProps: { 'data-active': true, 'aria-current': 'page' } } as const
  return (
    <nav className={classes.rail} aria-label={t('segments.title')} data-empty={segments?.length === 0 || undefined}>
      <Link to="/contacts" activeOptions={{ exact: true, includeSearch: false }} {...active} className={classes.entry}>
        <span className={classes.name}>{t('segments.everyone')}</span>
        <span className={classes.count}>{total?.toLocaleString(i18n.language)}</span>
      </Link>
      <div className={classes.head}>
        <Link to="/segments">{t('segments.title')}</Link>
      </div>
      {shown?.map(({ _id, name }) => (
        <Link key={_id} to="/segments/$id" params={{ id: _id }} {...active} className={classes.entry} title={name}>
          <span className={classes.name}>{name}</span>
          <span className={classes.count}>
            <SegmentCount id={_id} />
          </span>
        </Link>
      ))}
      {segments?.length === 0 && <p className={classes.none}>{t('segments.none')}</p>}
      {segments && shown && segments.length > shown.length && (
        <Link to="/segments" className={classes.entry}>
          {t('segments.showAll', { count: segments.length })}
        </Link>
      )}
    </nav>
  )
}
