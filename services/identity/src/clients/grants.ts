/** The only supported grant: token exchange (RFC 8693). */
export const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
