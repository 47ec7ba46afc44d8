import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@rollcall/testing/eventually'

/** The mails of a stack that stores them as files. Start the stack with `settings`. */
export type Mailbox = {
  settings: { MAIL_DIR: string }
  /** Returns the texts of the mails to an address so far, oldest first. */
  to(address: string): Promise<string[]>
  /** Returns the mails to an address so far, with their heads, oldest first. */
  rawTo(address: string): Promise<string[]>
  /** Runs an action that causes a mail to an address, waits for the mail and returns its text. */
  next(address: string, cause: () => Promise<unknown>): Promise<string>
  remove(): Promise<void>
}

/** Opens a mailbox in a new folder. */
export async function openMailbox(): Promise<Mailbox> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-mail-'))
  const read = new Map<string, Promise<string>>()
  const rawTo = async (address: string) => {
    const names = (await readdir(folder)).filter(name => name.endsWith('.eml')).sort()
    for (const name of names) if (!read.has(name)) read.set(name, readFile(join(folder, name), 'utf8'))
    const mails = await Promise.all(names.map(name => read.get(name)!))
    return mails.filter(mail => recipientOf(mail) === address)
  }
  const to = async (address: string) => (await rawTo(address)).map(textOf)
  return {
    settings: { MAIL_DIR: folder },
    to,
    rawTo,
    async next(address, cause) {
      const before = (await to(address)).length
      await cause()
      return eventually(`a mail to ${address}`, async () => (await to(address))[before], { withinMs: 15_000 })
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function recipientOf(mail: string): string | undefined {
  return /^To: (.*?)\r?$/im.exec(mail)?.[1]
}

/** Returns the text below the head, decoded from quoted-printable. */
function textOf(mail: string): string {
  const text = mail.slice(mail.search(/\r?\n\r?\n/)).trim()
  if (!/^Content-Transfer-Encoding: quoted-printable/im.test(mail)) return text
  return text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
