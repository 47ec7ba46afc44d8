import type { OauthRequest } from './oauth-request.model.ts'
import type { Sender } from './sender.model.ts'

/** Places of a sender's secrets, see `Secrets`: a secret of another sender does not open here. */
export const secretPlace = {
  password: ({ organization, _id }: Pick<Sender, 'organization' | '_id'>) => `${organization}/senders/${_id}/password`,
  tokens: ({ organization, _id }: Pick<Sender, 'organization' | '_id'>) => `${organization}/senders/${_id}/tokens`,
  verifier: ({ organization, hash }: Pick<OauthRequest, 'organization' | 'hash'>) =>
    `${organization}/oauth-requests/${hash}`,
}
