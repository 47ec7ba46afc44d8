import { bytesOfIds, createSignedTokens, idsOfBytes, type KeyRing } from '@rollcall/credentials'
import { BOUNCE_LABEL } from '../domains/domain.model.ts'

/** Which message a bounce is about. */
export type BouncedMessage = { organizationId: string; messageId: string }

/** Makes and reads the addresses that bounces go to, `b+<token>@bounce.<domain>`, each of one message. */
export type BounceAddresses = {
  addressOf(message: BouncedMessage, domain: string): string
  /** Returns the message of an address; undefined if it was not signed here. */
  read(address: string): BouncedMessage | undefined
}

const ADDRESS = new RegExp(`^b\\+([a-z2-7]{1,62})@${BOUNCE_LABEL}\\.`)

/** Creates the addresses of an installation, signed with the first of its LINK_KEYS. */
export function createBounceAddresses(keys: KeyRing): BounceAddresses {
  const tokens = createSignedTokens(keys, 'bounce', { encoding: 'base32' })
  return {
    addressOf: ({ organizationId, messageId }, domain) =>
      `b+${tokens.sign(bytesOfIds(organizationId, messageId))}@${domain}`,
    read(address) {
      const [, token] = ADDRESS.exec(address.toLowerCase()) ?? []
      const content = token === undefined ? undefined : tokens.verify(token)
      if (!content) return undefined
      const [organizationId = '', messageId = ''] = idsOfBytes(content, 2).ids
      return { organizationId, messageId }
    },
  }
}
