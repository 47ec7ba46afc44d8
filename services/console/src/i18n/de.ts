import attributes from '../attributes/de.ts'
import contacts from '../contacts/de.ts'
import imports from '../imports/de.ts'
import kit from '../kit/de.ts'
import lists from '../lists/de.ts'
import shell from '../shell/de.ts'
import signIn from '../sign-in/de.ts'
import type { en } from './en.ts'
import type { Translation } from './translation.ts'

/** The German texts, by area. */
export const de = { attributes, contacts, imports, kit, lists, shell, signIn } satisfies Translation<typeof en>
