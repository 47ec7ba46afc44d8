import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A mail that was stored instead of sent. */
export type KeptMail = { to: string; subject: string; file: string }

const POLL_MS = 300

/** Calls `onMail` for each new mail in a folder; returns a stop function. Polls, because file events are not portable. */
export function followMails(folder: string, onMail: (mail: KeptMail) => void): () => void {
  mkdirSync(folder, { recursive: true })
  const known = new Set(readdirSync(folder))
  const poll = () => {
    for (const name of readdirSync(folder).sort()) {
      if (known.has(name) || !name.endsWith('.eml')) continue
      known.add(name)
      onMail(readMail(join(folder, name)))
    }
  }
  const timer = setInterval(poll, POLL_MS)
  return () => clearInterval(timer)
}

/** Returns the text of a stored mail: its unfolded headers, and its body decoded from quoted-printable. */
export function decodedMail(file: string): string {
  const text = readFileSync(file, 'utf8')
  const end = text.indexOf('\r\n\r\n')
  const body = text
    .slice(end)
    .replace(/=\r\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return unfolded(text.slice(0, end)) + body
}

function readMail(file: string): KeptMail {
  const [head = ''] = readFileSync(file, 'utf8').split('\r\n\r\n', 1)
  const headers = unfolded(head)
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim() ?? ''
  return { to: header('To'), subject: header('Subject'), file }
}

function unfolded(head: string): string {
  return head.replace(/\r\n[ \t]+/g, ' ')
}
