import { AppError } from '@rollcall/contract'
import { compile, type Mail, render, TemplateError } from '@rollcall/templates'

/** The parts of a mail, as records hold them. */
export type Parts = {
  subject?: string | null
  preheader?: string | null
  html?: string | null
  text?: string | null
}

/** Returns a record without the parts that can be too large for an event. */
export function withoutContent<T extends Parts>({ html: _, text: __, ...rest }: T): Omit<T, 'html' | 'text'> {
  return rest
}

/** Checks that every part parses. @throws {AppError} request.invalid_field with line and column */
export function requireParsable(parts: Parts): void {
  asFieldError(() => compile({ ...parts, subject: parts.subject ?? '' }))
}

/** Renders a mail. @throws {AppError} request.invalid_field for a part that takes too long or gets too large */
export function renderParts(parts: Parts, variables: object): Mail {
  return asFieldError(() => render({ ...parts, subject: parts.subject ?? '' }, variables))
}

function asFieldError<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw new AppError('request.invalid_field', { path: error.field, reason: error.message })
  }
}
