import { AppError } from '@rollcall/contract'
import { idsOfBytes } from '@rollcall/credentials'
import { html, renderPage } from '@rollcall/pages'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import type { SignUp } from './sign-up.model.ts'
import { confirmationTexts } from './texts.ts'

const TOKEN_BYTES = 24

/** Shows the page that asks to confirm. It changes nothing: programs open links of mails. */
export async function showConfirmation(context: Context, { key, language }: PageRequest): Promise<PageResponse> {
  const { email, consent, confirmedAt } = await findSignUp(context, key)
  const { title, confirm, done, thanks } = confirmationTexts[language]
  if (confirmedAt) return renderPage({ language, title: thanks, body: html`<p>${done}</p>` })
  const body = html`<p>${masked(email)}</p>
<p>${consent}</p>
<form method="post"><p><button type="submit">${confirm}</button></p></form>`
  return renderPage({ language, title, body })
}

/** Confirms the sign-up of a link. Confirming again changes nothing. */
export async function confirm(
  context: Context,
  { key, language }: PageRequest,
  { caller }: Call,
): Promise<PageResponse> {
  const { _id, organization } = await findSignUp(context, key)
  const { signUps } = context.collections.of(organization)
  const at = new Date(context.now())
  const confirmed = { confirmedAt: at, ip: caller.ip ?? '', dueAt: at }
  await signUps.updateOne({ _id, confirmedAt: null }, { $set: confirmed, $inc: { attempts: 1 } })
  context.signUpJob.wake()
  const { done, thanks } = confirmationTexts[language]
  return renderPage({ language, title: thanks, body: html`<p>${done}</p>` })
}

/** Returns the sign-up of a token. @throws {AppError} page.not_found */
async function findSignUp({ confirmations, collections }: Context, token: string): Promise<SignUp> {
  const content = confirmations.verify(token)
  if (content?.length !== TOKEN_BYTES) throw new AppError('page.not_found')
  const [organization = '', _id = ''] = idsOfBytes(content, 2).ids
  const signUp = await collections.of(organization).signUps.findOne({ _id, doubleOptIn: true })
  if (!signUp) throw new AppError('page.not_found')
  return signUp
}

/** Returns an address of which a stranger learns little: a…@example.com. */
function masked(email: string): string {
  const at = email.lastIndexOf('@')
  return `${email.slice(0, 1)}…${email.slice(at)}`
}
