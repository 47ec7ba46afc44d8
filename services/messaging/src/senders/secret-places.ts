import type { Sender } from './sender.model.ts'

/** Where the secrets of a sender belong: one of another sender does not open here. */
export const secretPlace = {
  password: ({ organization, _id }: Pick<Sender, 'organization' | '_id'>) => `${organization}/senders/${_id}/password`,
  tokens: ({ organization, _id }: Pick<Sender, 'organization' | '_id'>) => `${organization}/senders/${_id}/tokens`,
}
