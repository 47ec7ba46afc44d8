import { randomBytes } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Payload } from './compose.ts'

/** Stores a mail as a file instead of sending it, for development. Returns a reply with its path. */
export async function storeAsFile(folder: string, { raw }: Payload): Promise<string> {
  await mkdir(folder, { recursive: true })
  const time = new Date().toISOString().replaceAll(':', '-')
  const file = join(folder, `${time}-${randomBytes(3).toString('hex')}.eml`)
  await writeFile(`${file}.part`, readable(raw.toString()))
  await rename(`${file}.part`, file) // so that readers of the folder see only complete mails
  return `kept in ${file}`
}

/**
 * Decodes quoted-printable, so that links can be followed. Leaves signed mail unchanged.
 */
function readable(mail: string): string {
  const encoding = 'Content-Transfer-Encoding: quoted-printable'
  const end = mail.indexOf('\r\n\r\n')
  const [head, body] = [mail.slice(0, end), mail.slice(end)]
  if (!head.includes(encoding) || /^DKIM-Signature:/im.test(head)) return mail
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)))
  return head.replace(encoding, 'Content-Transfer-Encoding: 8bit') + Buffer.from(bytes, 'latin1').toString()
}
