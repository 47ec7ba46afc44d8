import { Schema, type Types } from 'mongoose'

/**
 * A hash of an address that had opted out or complained when it was erased, with a key that is not in the database. If
 * the address comes back, it is opted out.
 */
export type ErasedAddress = { _id: Types.ObjectId; organization: Types.ObjectId; hash: string; at: Date }

export const erasedAddressSchema = new Schema<ErasedAddress>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    hash: { type: String, required: true },
    at: { type: Date, required: true },
  },
  { collection: 'erased_addresses', versionKey: false },
)
erasedAddressSchema.index({ organization: 1, hash: 1 }, { unique: true })
