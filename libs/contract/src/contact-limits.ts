import { ruleOf } from './options.ts'
import { contractRoot } from './root.ts'

/** How long a contact's name and tags may be, in characters, and how many tags it may have. */
export type ContactLimits = { nameLength: number; tagCount: number; tagLength: number }

/** The limits of a contact as CreateContactRequest declares them, for what reaches a contact without that request. */
export function contactLimits(): ContactLimits {
  const { name, tags } = contractRoot().lookupType('rollcall.audience.v1.CreateContactRequest').fields
  const { maxItems, maxLen } = ruleOf(tags!)
  return { nameLength: ruleOf(name!).maxLen!, tagCount: maxItems!, tagLength: maxLen! }
}
