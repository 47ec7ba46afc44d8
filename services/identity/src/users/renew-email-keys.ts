import { emailKeyOf } from '@rollcall/contract'
import { isDuplicate, type Unscoped } from '@rollcall/store'
import type { User } from './user.model.ts'

/**
 * Updates the email keys of international addresses to this version, so that their accounts are found. An account keeps
 * its old key if another account of the organization has the new one.
 */
export async function renewEmailKeys(users: Unscoped<User>): Promise<void> {
  const international = users.find({ emailKey: { $not: /^[ -~]*$/ } }, { email: 1, emailKey: 1 }).lean()
  for await (const { _id, email, emailKey } of international) {
    const key = emailKeyOf(email)
    if (key === emailKey) continue
    await users.updateOne({ _id }, { $set: { emailKey: key } }, { timestamps: false }).catch(error => {
      if (!isDuplicate(error)) throw error
    })
  }
}
