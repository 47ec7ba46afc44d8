import { emailKeyOf } from '@rollcall/contract'
import { isDuplicate } from '@rollcall/store'
import type { Model } from 'mongoose'
import type { User } from './user.model.ts'

/**
 * Stores the keys of international addresses as this version makes them, so that their accounts are found. An account whose
 * new key another one of the organization has keeps the old one.
 */
export async function renewEmailKeys(users: Model<User>): Promise<void> {
  const international = users.find({ emailKey: { $not: /^[ -~]*$/ } }, { email: 1, emailKey: 1 }).lean()
  for await (const { _id, email, emailKey } of international) {
    const key = emailKeyOf(email)
    if (key === emailKey) continue
    await users.updateOne({ _id }, { $set: { emailKey: key } }, { timestamps: false }).catch(error => {
      if (!isDuplicate(error)) throw error
    })
  }
}
