import { badRequest, conflict, forbidden, notFound, unauthenticated } from './entry.ts'

const success = { shape: 'success' } as const

/** Refusals of the messaging context. */
export const messagingErrors = {
  'domain.not_found': notFound('domain'),
  'domain.in_use': conflict('the domain is used by a sender'),
  'domain.changed': conflict('the domain was changed concurrently, please try again'),
  'domain.key_pending': conflict('a new DKIM key is already waiting for its record'),
  'domain.not_verified': badRequest(
    (d: { domain: string }) => `invalid field -> email: the domain ${d.domain} is not verified`,
    { path: 'email' },
  ),
  'domain.records_wrong': badRequest((d: { faults: string[] }) => d.faults.join('; '), success),
  'domain.records_unseen': badRequest(
    'every record is correct, but the mail provider does not see them all yet: try again in a few minutes',
    success,
  ),
  'domain.other_provider': badRequest(
    (d: { added: string; current: string }) =>
      `the domain was added with ${d.added}, but the organization's mail provider is now ${d.current}: delete the domain and add it again`,
    success,
  ),

  'provider.not_found': notFound('provider'),
  'provider.report_refused': unauthenticated('The report is not signed by the mail provider, too old or repeated.'),
  'provider.not_configured': badRequest('no mail provider is configured for the organization', success),
  'provider.not_offered': badRequest('this installation has no mail servers of its own', success),
  'provider.key_missing': badRequest('the mail provider has no API key', success),
  'provider.key_refused': badRequest('the mail provider refuses the API key', success),
  'provider.refused': badRequest((d: { reply: string }) => `the mail provider says: ${d.reply}`, success),

  'suppression.not_found': notFound('suppression'),

  'sender.not_found': notFound('sender'),
  'sender.person_required': forbidden('Only users can have senders.'),
  'sender.not_allowed': forbidden((d: { who: 'owner' | 'creator' }) => `Only the sender's ${d.who} may do this.`),
  'sender.smtp_changed': conflict('the mail server was changed concurrently, please try again', { path: 'smtp' }),
  'sender.not_smtp': badRequest('invalid field -> smtp: the sender does not deliver by smtp', { path: 'smtp' }),
  'sender.other_delivery': badRequest(
    (d: { path: string }) => `invalid field -> ${d.path}: requires delivery ${d.path}`,
  ),
  'sender.unknown': badRequest((d: { path: string }) => `invalid field -> ${d.path}: no such sender`),
  'sender.no_default': badRequest((d: { path: string }) => `invalid field -> ${d.path}: there is no default sender`),
  'sender.not_usable': forbidden((d: { reason: string }) => `The sender cannot be used: ${d.reason}.`),
  'sender.domain_unusable': badRequest(
    (d: { path: string; domain: string }) => `invalid field -> ${d.path}: the domain ${d.domain} is not verified`,
  ),
  'sender.test_failed': badRequest((d: { reply: string }) => d.reply, success),

  'mailing.not_found': notFound('mailing'),
  'mailing.cancelled': conflict('the mailing is cancelled'),
  'mailing.unsafe_links': badRequest(
    'the public URL of this installation must begin with https, so that recipients can unsubscribe safely',
    success,
  ),

  'message.not_found': notFound('message'),
  'message.not_scheduled': conflict('the message is not scheduled'),

  'connection.session_required': forbidden('Only a signed-in user can connect an account.'),
  'connection.other_session': forbidden('Only the session that started connecting the account can finish it.'),
  'connection.other_delivery': badRequest(
    (d: { provider: string }) => `invalid field -> sender: its delivery is not a ${d.provider} account`,
    { path: 'sender' },
  ),
  'connection.not_offered': badRequest(
    (d: { provider: string }) => `this installation is not registered with ${d.provider}`,
    success,
  ),
  'connection.expired': badRequest('the request to connect an account has expired or was used: start again', success),
  'connection.refused': badRequest((d: { provider: string; reply: string }) => `${d.provider}: ${d.reply}`, success),
  'connection.other_address': badRequest(
    (d: { account: string | null; sender: string; domain: string }) =>
      `the connected account is ${d.account ?? 'without an address'}, but the sender is ${d.sender}: sign in with that account, or verify the domain ${d.domain}`,
    success,
  ),
}
