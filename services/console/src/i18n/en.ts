import attributes from '../attributes/en.ts'
import contacts from '../contacts/en.ts'
import imports from '../imports/en.ts'
import kit from '../kit/en.ts'
import lists from '../lists/en.ts'
import shell from '../shell/en.ts'
import signIn from '../sign-in/en.ts'

/** The English texts, by area. */
export const en = { attributes, contacts, imports, kit, lists, shell, signIn } as const
