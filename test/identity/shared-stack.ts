import { shared } from '@rollcall/testing/shared'
import { manyAddresses } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'

/** A stack with open registration that stores mails as files. */
export type IdentityStack = TestStack & { mailbox: Mailbox }

/** Starts the stack that test files of identity share. Each file keeps to its own organizations and people. */
export const startIdentityStack = shared(async (): Promise<IdentityStack> => {
  const mailbox = await openMailbox()
  const stack = await startStack({ settings: { ...manyAddresses, ...mailbox.settings, REGISTRATION: 'open' } })
  return {
    ...stack,
    mailbox,
    async stop() {
      await stack.stop()
      await mailbox.remove()
    },
  }
})
