import { shared } from '@rollcall/testing/shared'
import { startStack } from '../stack.ts'
import { organizationSettings } from './organizations.ts'

/** Starts the stack that test files of imports share. Each test keeps to its own organizations. */
export const startImportStack = shared(() => startStack({ settings: organizationSettings }))
