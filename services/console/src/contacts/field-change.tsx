import { useTranslation } from 'react-i18next'
import { UserLink } from '../users/user-link.tsx'
import classes from './field-change.module.css'
import { useFieldWords } from './use-field-words.ts'
import { differenceOf } from './value.ts'

/** What became of one field of a contact: its value before and after; of several values those that differ. */
export function FieldChange({ field, from, to }: { field: string; from: unknown; to: unknown }) {
  const { t } = useTranslation()
  const { nameOf, shown } = useFieldWords([field])
  const [gone, come] = differenceOf(from, to)
  const wordsOf = (value: unknown) =>
    field === 'user' && typeof value === 'string' ? <UserLink id={value} /> : shown(field, value)
  const [before, after] = [wordsOf(gone), wordsOf(come)]
  return (
    <div className={classes.change}>
      <span className={classes.name}>{nameOf(field)}</span>
      {before && <del>{before}</del>}
      {(after || !before) && <ins>{after ?? t('contacts.noValue')}</ins>}
    </div>
  )
}
