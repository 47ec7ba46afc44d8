import { Button, Group, Modal, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { type BodyField, type CallName, type ErrorCode, fields, RollcallError } from '@rollcall/sdk'
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { sentence } from '../server/texts.ts'
import classes from './form-modal.module.css'
import { useReports } from './problem.ts'
import { ProblemAlert } from './problem-alert.tsx'
import { useUnsaved } from './use-unsaved.tsx'

/** Returns what the contract says about a field of a call's body, as attributes of its input. */
export function fieldProps(call: CallName, name: string): { required?: true; maxLength?: number } {
  const field = (fields as Partial<Record<CallName, Record<string, BodyField>>>)[call]?.[name]
  return {
    ...(field?.required && { required: true }),
    ...(field?.maxLength && field.type === 'string' && { maxLength: field.maxLength }),
  }
}

type Submit<Values, Answer> = UseMutationResult<Answer, Error, Values> & {
  /** Whether the refusal went to a field, also after the field was changed. */
  isAtField: boolean
}

/**
 * Sends a form. What was sent then counts as saved, what was typed meanwhile does not. A refusal goes to the field that it
 * names, any other over the fields.
 */
export function useSubmit<Values extends Record<string, unknown>, Answer>(
  form: UseFormReturnType<Values>,
  {
    send,
    done,
    onDone,
    placeOf = {},
    isCheck = false,
  }: {
    send: (values: Values) => Promise<Answer>
    done?: string
    /** Leaves or empties the form, so that what was typed meanwhile is given up too. */
    onDone?: (answer: Answer, sent: Values) => void
    /** Fields of refusals that name none, by their code. */
    placeOf?: Partial<Record<ErrorCode, string>>
    /** The call tries what was typed and saves nothing. */
    isCheck?: boolean
  },
): Submit<Values, Answer> {
  const client = useQueryClient()
  const reports = useReports()
  const [placed, setPlaced] = useState<Error>()
  const submit = useMutation({
    mutationFn: send,
    onSuccess: (answer, sent) => {
      if (isCheck) return
      form.resetDirty(onDone ? undefined : sent)
      if (done) reports.done(done)
      onDone?.(answer, sent)
      void client.invalidateQueries()
    },
    onError: error => {
      if (!(error instanceof RollcallError)) return
      const named = error.path ?? placeOf[error.code as ErrorCode]
      const path = named && fieldAt(form.getValues(), named)
      if (!path) return
      form.setErrors({ [path]: sentence(error.message) })
      setPlaced(error)
    },
  })
  return { ...submit, isAtField: submit.error !== null && submit.error === placed }
}

/** Returns the path of a form's field: of a list of texts for one of them, because one input shows them all. */
function fieldAt(values: unknown, path: string): string | undefined {
  const list = path.replace(/\.\d+$/, '')
  if (list !== path && isTexts(valueAt(values, list))) return list
  return hasField(values, path) ? path : undefined
}

function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], values)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

function hasField(values: unknown, path: string): boolean {
  const [head = '', ...rest] = path.split('.')
  if (typeof values !== 'object' || values === null || !(head in values)) return false
  return rest.length === 0 || hasField((values as Record<string, unknown>)[head], rest.join('.'))
}

type FormProps<Values extends Record<string, unknown>, Answer> = {
  form: UseFormReturnType<Values>
  submit: Submit<Values, Answer>
  children: ReactNode
}

/** A form with the refusal over its fields, unless a field shows it. */
export function SubmitForm<Values extends Record<string, unknown>, Answer>({
  form,
  submit,
  children,
}: FormProps<Values, Answer>) {
  return (
    <form onSubmit={form.onSubmit(values => submit.mutate(values))} noValidate={false}>
      <Stack gap="md">
        {submit.error && !submit.isAtField && <ProblemAlert error={submit.error} />}
        {children}
      </Stack>
    </form>
  )
}

/** A form in a dialog, which asks before it closes over unsaved values. */
export function FormModal<Values extends Record<string, unknown>, Answer>({
  title,
  form,
  submit,
  action,
  onClose,
  children,
  isIncomplete = false,
  size = 'md',
}: FormProps<Values, Answer> & {
  title: string
  /** What the button says. */
  action: string
  onClose: () => void
  /** Something beside the fields is still missing. */
  isIncomplete?: boolean
  size?: string
}) {
  const { t } = useTranslation()
  const leave = useUnsaved(form.isDirty)
  const close = () => void leave(onClose)
  return (
    <Modal opened onClose={close} title={title} size={size}>
      <SubmitForm form={form} submit={submit}>
        {children}
        <Group justify="flex-end" gap="xs" className={classes.footer}>
          <Button variant="default" onClick={close}>
            {t('kit.cancel')}
          </Button>
          <Button type="submit" disabled={isIncomplete} loading={submit.isPending}>
            {action}
          </Button>
        </Group>
      </SubmitForm>
    </Modal>
  )
}
