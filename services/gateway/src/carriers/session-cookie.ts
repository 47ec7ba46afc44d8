import type { HttpBody } from '@rollcall/contract'
import { type SetCookie, stringifySetCookie } from 'cookie'
import { cookieNames } from '../claim.ts'
import type { Exchange } from '../exchange.ts'

/** The cookie that carries a session in browsers. Scripts cannot read it. */
export type SessionCookie = {
  /** Sets the cookie until the session expires; not if the answer asks for a second factor. */
  set(exchange: Exchange, signIn: HttpBody): void
  clear(exchange: Exchange): void
}

/** A new session, or the request for a second factor. */
type SessionAnswer = { mfaRequired?: boolean; token: string; expiresAt: string }

/**
 * Creates the session cookie. With a public URL of https it is `__Host-auth_token`, always `Secure`, and a plain
 * `auth_token` is removed. Otherwise it is `auth_token`, `Secure` if the request was.
 */
export function createSessionCookie(publicUrl: string): SessionCookie {
  const isHttps = new URL(publicUrl).protocol === 'https:'
  const name = isHttps ? cookieNames.host : cookieNames.plain

  const setCookie = ({ headers, request }: Exchange, cookie: SetCookie) => {
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps || request.secure } as const
    headers.push(['Set-Cookie', stringifySetCookie({ ...cookie, ...attributes })])
  }
  const remove = (exchange: Exchange, name: string) => setCookie(exchange, { name, value: '', expires: new Date(0) })

  return {
    set(exchange, { data }) {
      const { mfaRequired, token, expiresAt } = JSON.parse(data.toString()) as SessionAnswer
      if (mfaRequired) return
      setCookie(exchange, { name, value: token, expires: new Date(expiresAt) })
      if (name !== cookieNames.plain) remove(exchange, cookieNames.plain)
    },
    clear(exchange) {
      remove(exchange, name)
      if (name !== cookieNames.plain) remove(exchange, cookieNames.plain)
    },
  }
}
