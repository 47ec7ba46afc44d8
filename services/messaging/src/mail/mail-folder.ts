import { randomBytes } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Parcel } from './compose.ts'

/** Keeps a mail as a file, for people to look at where nothing is to be sent; answers where it lies. */
export async function keepAsFile(folder: string, { raw }: Parcel): Promise<string> {
  await mkdir(folder, { recursive: true })
  const time = new Date().toISOString().replaceAll(':', '-')
  const file = join(folder, `${time}-${randomBytes(3).toString('hex')}.eml`)
  await writeFile(`${file}.part`, raw)
  await rename(`${file}.part`, file) // whoever watches the folder sees whole mails only
  return `kept in ${file}`
}
