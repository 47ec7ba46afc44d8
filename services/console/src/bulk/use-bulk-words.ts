import type { BulkJob, ContactsChange } from '@rollcall/sdk'
import { useTranslation } from 'react-i18next'
import { useFieldWords } from '../contacts/use-field-words.ts'

type Job = Pick<BulkJob, 'kind' | 'dryRun' | 'change'>

/** Returns a function that says what a job does. Reads the names that these jobs need. */
export function useBulkWords(jobs: readonly Job[]): (job: Job) => string {
  const { t } = useTranslation()
  const { nameOf, shown } = useFieldWords(jobs.flatMap(fieldsOf))
  const changeWords = ({ attributes = {}, ...change }: ContactsChange) => {
    const { addTags, removeTags, addToLists, removeFromLists, unsubscribed, blocked } = change
    return [
      addTags && t('bulk.did.addTags', { what: addTags.join(', ') }),
      removeTags && t('bulk.did.removeTags', { what: removeTags.join(', ') }),
      addToLists && t('bulk.did.addToLists', { what: shown('lists', addToLists) ?? '' }),
      removeFromLists && t('bulk.did.removeFromLists', { what: shown('lists', removeFromLists) ?? '' }),
      ...Object.entries(attributes).map(([slug, value]) => {
        const field = `attributes.${slug}`
        const said = shown(field, value)
        return said
          ? t('bulk.did.set', { name: nameOf(field), value: said })
          : t('bulk.did.clear', { name: nameOf(field) })
      }),
      unsubscribed && t('bulk.did.unsubscribe'),
      blocked !== undefined && t(blocked ? 'bulk.did.block' : 'bulk.did.unblock'),
    ]
      .filter(Boolean)
      .join(' · ')
  }
  return ({ kind, dryRun, change }) => {
    const isChange = kind !== 'delete' && kind !== 'undo' && kind !== 'erase'
    const what = isChange ? changeWords(change as ContactsChange) : t(`bulk.did.${kind}`)
    return dryRun ? t('bulk.did.dryRun', { what }) : what
  }
}

function fieldsOf({ change }: Job): string[] {
  const { attributes = {}, addToLists, removeFromLists } = (change ?? {}) as ContactsChange
  const slugs = Object.keys(attributes).map(slug => `attributes.${slug}`)
  return addToLists || removeFromLists ? [...slugs, 'lists'] : slugs
}
