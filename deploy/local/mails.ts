import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A mail that was kept instead of being sent. */
export type KeptMail = { to: string; subject: string; file: string }

const POLL_MS = 300

/** Tells of each mail that comes into a folder from now on. Looks every so often: file events differ between systems. */
export function followMails(folder: string, onMail: (mail: KeptMail) => void): void {
  mkdirSync(folder, { recursive: true })
  const known = new Set(readdirSync(folder))
  const look = () => {
    for (const name of readdirSync(folder).sort()) {
      if (known.has(name) || !name.endsWith('.eml')) continue
      known.add(name)
      onMail(readMail(join(folder, name)))
    }
  }
  setInterval(look, POLL_MS).unref()
}

function readMail(file: string): KeptMail {
  const [head = ''] = readFileSync(file, 'utf8').split('\r\n\r\n', 1)
  const unfolded = head.replace(/\r\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? ''
  return { to: header('To'), subject: header('Subject'), file }
}
