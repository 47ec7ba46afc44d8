import { Button, Group, Modal } from '@mantine/core'
import { CodeIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Copyable, CopyTextButton } from '../kit/copyable.tsx'
import type { Conditions } from '../kit/list-search.ts'
import { useUnsaved } from '../kit/use-unsaved.tsx'
import { curlOf } from './curl.ts'
import classes from './filter-editor.module.css'
import { draftOf, FilterEditor } from './filter-editor.tsx'

/** Edits the filter of a list by rules, in a dialog. */
export function AdvancedFilter({
  filter,
  added,
  onApply,
  onClose,
}: {
  filter: Conditions
  /** Field of a rule that is added at once. */
  added?: string | undefined
  onApply: (filter: Conditions) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [initial] = useState(() => draftOf(filter))
  const [draft, setDraft] = useState(initial)
  const [isShown, setShown] = useState(false)
  const leave = useUnsaved(() => draft !== initial)
  const close = () => void leave(onClose)
  const json = JSON.stringify(draft.filter)
  return (
    <Modal opened onClose={close} title={t('contacts.rules.title')} size="50rem">
      <FilterEditor draft={draft} added={added} onChange={setDraft} />
      {isShown && (
        <div className={classes.json}>
          <Copyable value={json} what={t('contacts.rules.filter')} mono />
          <CopyTextButton value={curlOf(draft.filter, location.origin)} what={t('contacts.rules.curlCommand')}>
            {t('contacts.rules.curl')}
          </CopyTextButton>
        </div>
      )}
      <Group mt="lg" gap="xs">
        <Button
          variant="subtle"
          color="gray"
          leftSection={<CodeIcon size={14} />}
          aria-expanded={isShown}
          onClick={() => setShown(!isShown)}
        >
          {t(isShown ? 'contacts.rules.hide' : 'contacts.rules.show')}
        </Button>
        <Button variant="default" ml="auto" onClick={close}>
          {t('kit.cancel')}
        </Button>
        <Button
          disabled={!draft.isComplete}
          onClick={() => {
            onApply(draft.filter)
            onClose()
          }}
        >
          {t('contacts.rules.apply')}
        </Button>
      </Group>
    </Modal>
  )
}
