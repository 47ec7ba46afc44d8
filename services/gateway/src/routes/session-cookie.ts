import type { HttpBody } from '@rollcall/rpc'
import { type SetCookie, stringifySetCookie } from 'cookie'
import type { Exchange } from '../exchange.ts'

const name = 'auth_token'

/** Hands the session that a sign-in answers to the browser as well, out of reach of scripts, until it expires. */
export function setSessionCookie(exchange: Exchange, { data }: HttpBody): void {
  const { token, expiresAt } = JSON.parse(data.toString()) as { token: string; expiresAt: string }
  setCookie(exchange, { name, value: token, expires: new Date(expiresAt) })
}

/** Takes the session back from the browser. */
export function clearSessionCookie(exchange: Exchange): void {
  setCookie(exchange, { name, value: '', expires: new Date(0) })
}

function setCookie({ headers, request }: Exchange, cookie: SetCookie): void {
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: request.secure } as const
  headers.push('Set-Cookie', stringifySetCookie({ ...cookie, ...attributes }))
}
