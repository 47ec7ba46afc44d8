// P8 of the goals: checking a session JWT as the gateway does, beside jsonwebtoken with a string secret.
import { randomBytes } from 'node:crypto'
import { createSessionJwt, parseKeyRing } from '@rollcall/credentials'
import jwt from 'jsonwebtoken'
import { atLeast, type Figure, sideBySide } from './measure.ts'

const issuer = 'rollcall'
const sessions = 100
const checks = 10_000
const id = () => randomBytes(12).toString('hex')

/** Measures checks per second over a hundred repeated sessions. */
export async function run(): Promise<Figure[]> {
  const secret = randomBytes(32).toString('base64')
  const ours = createSessionJwt({ keys: parseKeyRing(`bench:${secret}`), issuer, audience: issuer })
  const now = Math.floor(Date.now() / 1000)
  const claims = () => ({ sub: id(), org: id(), sid: id(), role: 'admin', iat: now, exp: now + 3600 })
  const known = Array.from({ length: sessions }, () => ours.sign(claims()))
  const plain = Array.from({ length: sessions }, () =>
    jwt.sign(claims(), secret, { algorithm: 'HS256', issuer, audience: issuer }),
  )
  const { a, b, ratio } = await sideBySide(
    async () => rate(known, token => ours.verify(token)),
    async () => rate(plain, token => jwt.verify(token, secret, { algorithms: ['HS256'], issuer, audience: issuer })),
  )
  const figure = atLeast('P8', ratio, 20)
  const cost = (rate: number) => `${(1e6 / rate).toFixed(2)} µs a check`
  return [{ ...figure, measured: `${figure.measured} (${cost(a)}; jsonwebtoken ${cost(b)})` }]
}

function rate(tokens: readonly string[], check: (token: string) => unknown): number {
  const startedAt = performance.now()
  for (let count = 0; count < checks; count++) if (!check(tokens[count % sessions]!)) throw new Error('refused')
  return (checks * 1000) / (performance.now() - startedAt)
}
