import kit from '../kit/de.ts'
import shell from '../shell/de.ts'
import signIn from '../sign-in/de.ts'
import type { en } from './en.ts'
import type { Translation } from './translation.ts'

/** The German texts, by area. */
export const de = { kit, shell, signIn } satisfies Translation<typeof en>
