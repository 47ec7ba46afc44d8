import { Loader, UnstyledButton } from '@mantine/core'
import { PencilIcon } from '@primer/octicons-react'
import type { Attribute, Contact } from '@rollcall/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FocusEvent, type KeyboardEvent, type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { rollcall } from '../api.ts'
import { useRefusal } from '../kit/action.tsx'
import { useProblemText } from '../kit/problem.ts'
import { useUndoToast } from '../kit/undo-toast.ts'
import { ValueInput } from '../kit/value-input.tsx'
import classes from './contact.module.css'
import { shownValue } from './value.ts'

/** The types whose input is a choice: choosing saves. */
const CHOICES: readonly Attribute['type'][] = ['boolean', 'enum']

/** The value of an attribute, which a click changes in place. */
export function AttributeLine({ contact, attribute }: { contact: Contact; attribute: Attribute }) {
  const { t, i18n } = useTranslation()
  const refusal = useRefusal()('contacts.updateAttributes')
  const [isEditing, setEditing] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing) button.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])
  const { name, slug, type } = attribute
  const value = contact.attributes[slug]
  const shown = shownValue(value, type, i18n.language, { yes: t('kit.yes'), no: t('kit.no') })
  return (
    <div className={classes.line}>
      <span className={classes.label}>{name}</span>
      {isEditing ? (
        <Editor contact={contact} attribute={attribute} onClose={() => setEditing(false)} />
      ) : (
        <UnstyledButton
          ref={button}
          className={classes.editable}
          title={refusal}
          aria-disabled={Boolean(refusal)}
          data-blank={shown === undefined || undefined}
          onClick={() => setEditing(!refusal)}
        >
          {shown ?? t('contacts.noValue')}
          <span className="rc-hidden">{` ${t('contacts.editValue', { name })}`}</span>
          {!refusal && <PencilIcon size={12} className={classes.pencil ?? ''} />}
        </UnstyledButton>
      )}
    </div>
  )
}

function Editor({ contact, attribute, onClose }: { contact: Contact; attribute: Attribute; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const problemText = useProblemText()
  const offerUndo = useUndoToast()
  const { name, slug, type } = attribute
  const [before] = useState(contact.attributes[slug]) // it may change meanwhile
  const [value, setValue] = useState<unknown>(before)
  const set = (next: unknown) =>
    rollcall.contacts.updateAttributes(contact._id, { attributes: { [slug]: (next ?? null) as string } })
  const save = useMutation({
    mutationFn: set,
    onSuccess: async () => {
      offerUndo(t('contacts.savedValue', { name }), () => set(before))
      await client.invalidateQueries()
      onClose()
    },
  })
  const isCancelled = useRef(false) // leaving the page, the input loses the focus
  const finish = (next: unknown) => {
    if (save.isPending || isCancelled.current) return
    if (next === before) onClose()
    else save.mutate(next)
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    finish(value)
  }
  const leave = ({ currentTarget, relatedTarget }: FocusEvent<HTMLFormElement>) => {
    if (!currentTarget.contains(relatedTarget)) finish(value)
  }
  const cancel = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    isCancelled.current = true
    onClose()
  }
  return (
    <form onSubmit={submit} onBlur={leave} onKeyDown={cancel}>
      <ValueInput
        field={attribute}
        value={value}
        isInline
        onChange={next => {
          setValue(next)
          if (CHOICES.includes(type)) finish(next)
        }}
        error={save.error && problemText(save.error)}
        rightSection={save.isPending ? <Loader size={14} /> : undefined}
      />
    </form>
  )
}
