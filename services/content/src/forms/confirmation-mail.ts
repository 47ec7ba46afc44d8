import type { SignUp } from './sign-up.model.ts'
import { confirmationTexts } from './texts.ts'

/** Returns the mail with the link to confirm a sign-up. It says nothing that the submitter wrote. */
export function confirmationMail({ form, language }: SignUp, url: string): { subject: string; text: string } {
  const { subject, reason, howTo, otherwise } = confirmationTexts[language]
  return { subject: subject(form), text: `${reason(form)}\n\n${howTo}\n\n${url}\n\n${otherwise}\n` }
}
