import { badRequest, conflict, forbidden, notFound, oauth, unauthenticated } from './entry.ts'

/** Refusals of the identity context. */
export const identityErrors = {
  'user.not_found': notFound('user'),
  'user.unknown': badRequest((d: { path: string }) => `invalid field -> ${d.path}: no such user`),
  'account.unknown': unauthenticated('No such account.'),
  'account.own': conflict('not possible for your own account'),
  'account.higher_rank': forbidden((d: { role: string }) => `The account has a higher rank: ${d.role}`),
  'password.too_common': badRequest('invalid field -> password: too common, choose another', { path: 'password' }),
  'password_link.expired': badRequest('the link has expired or was used', { path: 'token' }),
  'session.not_found': notFound('session'),
  'device.not_found': notFound('device'),

  'sign_in.wrong_password': unauthenticated('Wrong email or password.'),
  'sign_in.wrong_code': unauthenticated('Wrong email or code.'),
  'sign_in.wrong_second_factor': unauthenticated('Wrong code.'),
  'sign_in.expired': unauthenticated('The sign-in has expired. Sign in again.'),
  'second_factor.on': conflict('a second factor is already set up'),
  'second_factor.off': conflict('no second factor is set up'),
  'second_factor.not_started': conflict('the setup has not begun or has expired; begin it again'),
  'second_factor.required': forbidden('The organization requires a second factor.'),
  'second_factor.own_required': conflict('set up your own second factor first', { path: 'requireMfa' }),
  'registration.closed': forbidden('Registration is closed.'),
  'impersonation.not_allowed': forbidden(
    'Only owners and admins may impersonate a user, and only owners may impersonate an owner.',
  ),

  'organization.not_found': notFound('organization'),
  'organization.last_owner': conflict('not allowed for the last owner of the organization'),
  'organization.unverified': forbidden(
    'The organization can only send mail to its owner until the owner verifies the email address, by a sign-in code or a new password.',
  ),

  'token.not_found': notFound('token'),
  'token.expiry_invalid': badRequest('expiresAt must be a valid future date.', { path: 'expiresAt' }),
  'token.scope_refused': forbidden('A credential limited to a scope cannot create tokens.'),
  'token.no_session': badRequest('An API token has no session to end.'),

  'role.not_found': notFound('role'),
  'role.unknown': badRequest((d: { name: string }) => `Unknown role: ${d.name}`, { path: 'role' }),
  'role.unknown_for_tokens': badRequest((d: { name: string }) => `Unknown API role: ${d.name}`, { path: 'role' }),
  'role.exceeds_permissions': forbidden(
    (d: { excess: string[] }) => `Role exceeds your permissions: ${d.excess.join(', ')}`,
  ),
  'role.above_rank': forbidden((d: { role: string }) =>
    d.role === 'owner' ? 'Only an owner may make another owner.' : 'Only an owner or admin may make an admin.',
  ),
  'role.built_in': badRequest('a built-in role cannot be deleted', { path: 'id' }),
  'role.in_use': conflict('the role is assigned to members'),
  'role.other_kind': conflict((d: { name: string; kind: string }) => `role ${d.name} is of kind ${d.kind}`, {
    path: 'kind',
  }),
  'role.name_reserved': badRequest('invalid field -> name: reserved for a built-in role', { path: 'name' }),

  'feature.not_found': notFound('feature'),

  'workspace.not_found': notFound('workspace'),
  'workspace.last_owner': conflict('not allowed for the last owner of the workspace'),
  'workspace.seats_taken': forbidden(
    (d: { seats: number; wanted: number }) => `The workspace has ${d.seats} seats; ${d.wanted} are needed.`,
    { shape: 'success' },
  ),
  'member.not_found': notFound('member'),
  'member.no_account': badRequest('invalid field -> email: the organization has no account with this email', {
    path: 'email',
  }),
  'member.account_deleted': conflict('the account of the member was deleted'),
  'member.owner_protected': forbidden('Only an owner may change or remove an owner.'),

  'invitation.not_found': notFound('invitation'),
  'invitation.expired': badRequest('the invitation has expired', { path: 'token' }),
  'invitation.answered': conflict((d: { status: string }) => `the invitation was ${d.status}`),
  'invitation.role_deleted': conflict((d: { role: string }) => `the role ${d.role} was deleted`),
  'invitation.account_deleted': conflict('the account was deleted; ask for another invitation'),
  'invitation.sender_required': forbidden('Only the sender may revoke an invitation.'),

  'client.invalid': oauth('invalid_client', 'Unknown client, or a wrong secret.'),
  'client.redirect_uri_invalid': oauth(
    'invalid_redirect_uri',
    (d: { index: number }) => `invalid field -> redirect_uris.${d.index}`,
  ),
  'client.grant_types_invalid': oauth(
    'invalid_client_metadata',
    (d: { required: string }) => `grant_types must include ${d.required}`,
  ),
  'client.scope_empty': oauth('invalid_client_metadata', 'the scope is empty'),
  'client.scope_exceeded': oauth(
    'invalid_client_metadata',
    (d: { excess: string[] }) => `scope not available: ${d.excess.join(' ')}`,
  ),
  'exchange.scope_empty': oauth('invalid_scope', 'the scope is empty'),
  'exchange.scope_exceeded': oauth(
    'invalid_scope',
    (d: { excess: string[] }) => `scope not available: ${d.excess.join(' ')}`,
  ),
  'exchange.field_missing': oauth('invalid_request', (d: { name: string }) => `missing field -> ${d.name}`),
  'exchange.grant_type_unsupported': oauth(
    'unsupported_grant_type',
    (d: { required: string }) => `grant_type must be ${d.required}`,
  ),
  'exchange.token_type_unsupported': oauth(
    'invalid_request',
    (d: { parameter: string; allowed: string[] }) => `${d.parameter} must be ${d.allowed.join(' or ')}`,
  ),
  'exchange.actor_unsupported': oauth('invalid_request', 'actor_token is not supported'),
  'exchange.audience_unknown': oauth(
    'invalid_target',
    (d: { audience: string }) => `tokens are only issued for the audience ${d.audience}`,
  ),
  /** The subject token is refused. `refusal` is the public text of the underlying refusal. */
  'exchange.subject_refused': oauth('invalid_request', (d: { refusal: string }) => d.refusal),
  'exchange.subject_mistyped': oauth('invalid_request', 'subject_token does not match subject_token_type'),
  'exchange.subject_invalid': oauth('invalid_request', 'subject_token is not a JWT of this API, or has expired'),
  'exchange.subject_exchanged': oauth('invalid_request', 'subject_token is an exchanged token or an impersonation'),
}
