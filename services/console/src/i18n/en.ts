import kit from '../kit/en.ts'
import shell from '../shell/en.ts'
import signIn from '../sign-in/en.ts'

/** The English texts, by area. */
export const en = { kit, shell, signIn } as const
