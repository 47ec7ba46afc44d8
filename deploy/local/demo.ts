import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, ConnectionError, createClient, ForbiddenError } from '@rollcall/sdk'
import { fillDemo } from './demo/fill.ts'
import { decodedMail, followMails } from './mails.ts'
import { publishLocally } from './name-server.ts'
import { explain, Problem } from './problem.ts'
import { readSettings } from './settings.ts'

/** `npm run demo`: fills an organization of its own on the running local stack, and prints how to sign in to it. */

type Owner = { email: string; password: string }

async function main(): Promise<void> {
  const { PORT, DATA_DIR, PUBLIC_URL, SMTP_URL } = readSettings()
  const baseUrl = PUBLIC_URL ?? `http://localhost:${PORT}`
  const owner = ownerIn(DATA_DIR)
  const mailFolder = SMTP_URL === undefined ? join(DATA_DIR, 'mails') : undefined
  const token = await signIn(baseUrl, owner, mailFolder)
  await fillDemo(createClient({ baseUrl, token }), {
    baseUrl,
    publish: records => publishLocally(DATA_DIR, records),
    mailFolder,
    log: line => console.log(`added     ${line}`),
  })
  console.log(`console   ${baseUrl}/console/\nsign in   ${owner.email} with ${owner.password}`)
}

/** Returns the owner that is kept beside the stack's data; a new one the first time. */
function ownerIn(folder: string): Owner {
  const file = join(folder, 'demo.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const owner = { email: 'demo@rollcall.test', password: randomBytes(12).toString('base64url') }
  writeFileSync(file, `${JSON.stringify(owner, null, 2)}\n`, { mode: 0o600 })
  return owner
}

/** Signs in, and registers the organization where it does not exist yet. Returns the session. */
async function signIn(baseUrl: string, owner: Owner, mailFolder?: string): Promise<string> {
  const { authentication } = createClient({ baseUrl })
  try {
    const known = await authentication.login(owner).catch(() => undefined)
    if (!known) {
      await authentication.register({ ...owner, name: 'Demo', organization: 'Demonstration' })
      if (mailFolder) await verifyEmail(authentication, owner, mailFolder)
    }
    const { token } = known ?? (await authentication.login(owner))
    if (token === undefined) throw new Problem(`${owner.email} has a second factor: sign in to the console`)
    return token
  } catch (error) {
    if (error instanceof ConnectionError) throw new Problem(`nothing answers at ${baseUrl}: run npm start first`)
    if (error instanceof ForbiddenError)
      throw new Problem('the stack runs with REGISTRATION=closed: start it with open')
    throw error
  }
}

/** Verifies the owner's address by the link of a mail, so that the organization may send mail. */
async function verifyEmail({ resetPassword, forgotPassword }: Client['authentication'], owner: Owner, folder: string) {
  const mailed = new Promise<string>(resolve => {
    const stop = followMails(folder, ({ to, file }) => {
      const [, token] = /set-password\?token=([\w-]+)/.exec(decodedMail(file)) ?? []
      if (to !== owner.email || token === undefined) return
      stop()
      resolve(token)
    })
  })
  await forgotPassword({ email: owner.email })
  await resetPassword({ token: await mailed, password: owner.password })
}

try {
  await main()
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}
