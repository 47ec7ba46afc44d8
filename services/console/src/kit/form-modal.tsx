import { Button, Group, Modal, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { type BodyField, type CallName, type ErrorCode, fields, RollcallError } from '@rollcall/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { sentence } from '../server/texts.ts'
import classes from './form-modal.module.css'
import { useReports } from './problem.ts'
import { ProblemAlert } from './problem-alert.tsx'

/** Returns what the contract says about a field of a call's body, as attributes of its input. */
export function fieldProps(call: CallName, name: string): { required?: true; maxLength?: number } {
  const field = (fields as Partial<Record<CallName, Record<string, BodyField>>>)[call]?.[name]
  return {
    ...(field?.required && { required: true }),
    ...(field?.maxLength && field.type === 'string' && { maxLength: field.maxLength }),
  }
}

/** Sends a form. A refusal goes to the field that it names, any other over the fields. */
export function useSubmit<Values extends Record<string, unknown>, Answer>(
  form: UseFormReturnType<Values>,
  {
    send,
    done,
    onDone,
    placeOf = {},
  }: {
    send: (values: Values) => Promise<Answer>
    done?: string
    onDone?: (answer: Answer) => void
    /** Fields of refusals that name none, by their code. */
    placeOf?: Partial<Record<ErrorCode, string>>
  },
) {
  const client = useQueryClient()
  const reports = useReports()
  return useMutation({
    mutationFn: send,
    onSuccess: answer => {
      if (done) reports.done(done)
      onDone?.(answer)
      void client.invalidateQueries()
    },
    onError: error => {
      if (!(error instanceof RollcallError)) return
      const path = error.path ?? placeOf[error.code as ErrorCode]
      if (path && hasField(form.getValues(), path)) form.setErrors({ [path]: sentence(error.message) })
    },
  })
}

/** Whether an error is shown at its field already. */
export function isAtField(form: UseFormReturnType<Record<string, unknown>>, error: unknown): boolean {
  return error instanceof RollcallError && Object.values(form.errors).includes(sentence(error.message))
}

function hasField(values: unknown, path: string): boolean {
  const [head = '', ...rest] = path.split('.')
  if (typeof values !== 'object' || values === null || !(head in values)) return false
  return rest.length === 0 || hasField((values as Record<string, unknown>)[head], rest.join('.'))
}

type FormProps<Values extends Record<string, unknown>, Answer> = {
  form: UseFormReturnType<Values>
  submit: ReturnType<typeof useSubmit<Values, Answer>>
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
        {submit.error && !isAtField(form as never, submit.error) && <ProblemAlert error={submit.error} />}
        {children}
      </Stack>
    </form>
  )
}

/** A form in a dialog. */
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
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <SubmitForm form={form} submit={submit}>
        {children}
        <Group justify="flex-end" gap="xs" className={classes.footer}>
          <Button variant="default" onClick={onClose}>
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
