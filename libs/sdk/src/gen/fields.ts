// Generated from the protos by `npm run generate`. Do not edit.

import type { BodyField } from '../call.ts'

/** The fields of every body by dotted name: what a form needs to know. */
export const fields = {
  'attributes.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'slug': { type: 'string', required: true, maxLength: 40 },
    'type': { type: 'string', required: true, values: ['string', 'number', 'boolean', 'date', 'enum'] },
    'options': { type: 'array', minLength: 1, maxLength: 100, maxItems: 200 },
    'required': { type: 'boolean' },
  },
  'attributes.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'options': { type: 'array', minLength: 1, maxLength: 100, maxItems: 200 },
    'required': { type: 'boolean' },
  },
  'contacts.create': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'name': { type: 'string', maxLength: 200 },
    'attributes': { type: 'object' },
    'tags': { type: 'array', minLength: 1, maxLength: 100, maxItems: 100 },
    'unsubscribed': { type: 'boolean' },
  },
  'contacts.update': {
    'email': { type: 'string', maxLength: 254, format: 'email' },
    'name': { type: 'string', maxLength: 200 },
    'unsubscribed': { type: 'boolean' },
  },
  'contacts.updateAttributes': {
    'attributes': { type: 'object', required: true },
  },
  'contacts.replaceTags': {
    'tags': { type: 'array', required: true, minLength: 1, maxLength: 100, maxItems: 100 },
  },
  'contacts.block': {
    'reason': { type: 'string', maxLength: 500, multiline: true },
  },
  'contacts.linkUser': {
    'userId': { type: 'string', required: true, nullable: true, format: 'object_id' },
  },
  'lists.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'tags': { type: 'array', minLength: 1, maxLength: 100, maxItems: 100 },
  },
  'lists.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'tags': { type: 'array', minLength: 1, maxLength: 100, maxItems: 100 },
    'archived': { type: 'boolean' },
  },
  'lists.addMembers': {
    'contactIds': { type: 'array', maxItems: 10000, format: 'object_id' },
    'emails': { type: 'array', minLength: 1, maxLength: 254, maxItems: 10000 },
    'filter': { type: 'object' },
  },
  'lists.removeMembers': {
    'contactIds': { type: 'array', maxItems: 10000, format: 'object_id' },
    'emails': { type: 'array', minLength: 1, maxLength: 254, maxItems: 10000 },
    'filter': { type: 'object' },
  },
  'segments.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'filter': { type: 'object', required: true },
    'sort': { type: 'object' },
    'columns': { type: 'array', minLength: 1, maxLength: 120, maxItems: 50 },
  },
  'segments.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'filter': { type: 'object' },
    'sort': { type: 'object' },
    'columns': { type: 'array', minLength: 1, maxLength: 120, maxItems: 50 },
  },
  'authentication.register': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'password': { type: 'string', required: true, minLength: 8, maxLength: 200, multiline: true },
    'organization': { type: 'string', minLength: 1, maxLength: 100 },
  },
  'authentication.login': {
    'email': { type: 'string', required: true, maxLength: 254 },
    'password': { type: 'string', required: true, maxLength: 200, multiline: true },
    'orgId': { type: 'string', format: 'object_id' },
  },
  'authentication.listSignInOrganizations': {
    'email': { type: 'string', required: true, maxLength: 254 },
    'password': { type: 'string', required: true, maxLength: 200, multiline: true },
  },
  'authentication.forgotPassword': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'orgId': { type: 'string', format: 'object_id' },
  },
  'authentication.resetPassword': {
    'token': { type: 'string', required: true, maxLength: 200 },
    'password': { type: 'string', required: true, minLength: 8, maxLength: 200, multiline: true },
    'deactivateTokens': { type: 'boolean' },
  },
  'authentication.verifyEmail': {
    'token': { type: 'string', required: true, maxLength: 200 },
  },
  'authentication.requestOtp': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'orgId': { type: 'string', format: 'object_id' },
  },
  'authentication.verifyOtp': {
    'email': { type: 'string', required: true, maxLength: 254 },
    'code': { type: 'string', required: true, minLength: 6, maxLength: 6 },
    'orgId': { type: 'string', format: 'object_id' },
    'requestId': { type: 'string', maxLength: 200 },
  },
  'authentication.verifyMfa': {
    'mfaToken': { type: 'string', required: true, maxLength: 200 },
    'code': { type: 'string', required: true, maxLength: 40 },
  },
  'authentication.impersonate': {
    'userId': { type: 'string', required: true, format: 'object_id' },
    'reason': { type: 'string', minLength: 1, maxLength: 500 },
  },
  'authentication.exchangeToken': {
    'grant_type': { type: 'string', required: true },
    'client_id': { type: 'string' },
    'client_secret': { type: 'string' },
    'subject_token': { type: 'string' },
    'subject_token_type': { type: 'string' },
    'requested_token_type': { type: 'string' },
    'scope': { type: 'string' },
    'audience': { type: 'array', maxItems: 10 },
    'resource': { type: 'array', maxItems: 10 },
    'actor_token': { type: 'string' },
    'actor_token_type': { type: 'string' },
  },
  'authentication.registerClient': {
    'client_name': { type: 'string', minLength: 1, maxLength: 100 },
    'client_uri': { type: 'string', maxLength: 2000, format: 'url' },
    'redirect_uris': { type: 'array', maxLength: 2000, maxItems: 10 },
    'grant_types': { type: 'array', maxLength: 100, maxItems: 10 },
    'response_types': { type: 'array', maxLength: 100, maxItems: 10 },
    'token_endpoint_auth_method': { type: 'string', values: ['none', 'client_secret_basic', 'client_secret_post'] },
    'scope': { type: 'string', minLength: 1 },
  },
  'features.create': {
    'slug': { type: 'string', required: true, maxLength: 40 },
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'default': { type: 'boolean' },
    'roles': { type: 'object' },
  },
  'features.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'default': { type: 'boolean' },
    'roles': { type: 'object' },
  },
  'roles.save': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'kind': { type: 'string', required: true, values: ['api', 'user'] },
    'permissions': { type: 'object', required: true },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'dryRun': { type: 'boolean' },
  },
  'settings.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'timezone': { type: 'string', minLength: 1, maxLength: 100 },
    'language': { type: 'string', minLength: 2, maxLength: 35 },
    'allowedOrigins': { type: 'array' },
    'sessionHours': { type: 'number' },
    'requireMfa': { type: 'boolean' },
    'eventRetentionDays': { type: 'number' },
    'defaultTracking': { type: 'object' },
    'defaultTracking.opens': { type: 'boolean' },
    'defaultTracking.clicks': { type: 'boolean' },
  },
  'tokens.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'expiresAt': { type: 'any' },
    'role': { type: 'string', minLength: 1, maxLength: 100 },
  },
  'tokens.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'description': { type: 'string', maxLength: 1000, multiline: true },
    'active': { type: 'boolean' },
    'archived': { type: 'boolean' },
  },
  'tokens.setAllowedIps': {
    'cidrs': { type: 'array', required: true, maxItems: 100, format: 'cidr' },
  },
  'workspaces.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'image': { type: 'string', nullable: true, maxLength: 2000, format: 'url' },
    'seats': { type: 'any' },
    'features': { type: 'object' },
  },
  'workspaces.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'image': { type: 'string', nullable: true, maxLength: 2000, format: 'url' },
    'seats': { type: 'any' },
    'features': { type: 'object' },
  },
  'members.add': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'role': { type: 'string', required: true, maxLength: 100 },
  },
  'members.update': {
    'role': { type: 'string', required: true, maxLength: 100 },
  },
  'invitations.create': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'role': { type: 'string', required: true, maxLength: 100 },
  },
  'invitations.accept': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'password': { type: 'string', minLength: 8, maxLength: 200, multiline: true },
  },
  'account.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'image': { type: 'string', nullable: true, maxLength: 2000, format: 'url' },
    'country': { type: 'string', nullable: true, minLength: 2, maxLength: 2 },
    'timezone': { type: 'string', nullable: true, minLength: 1, maxLength: 100 },
    'language': { type: 'string', nullable: true, minLength: 2, maxLength: 35 },
    'currency': { type: 'string', nullable: true, minLength: 3, maxLength: 3 },
  },
  'account.changePassword': {
    'currentPassword': { type: 'string', required: true, maxLength: 200, multiline: true },
    'newPassword': { type: 'string', required: true, minLength: 8, maxLength: 200, multiline: true },
  },
  'account.changeEmail': {
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'password': { type: 'string', required: true, maxLength: 200, multiline: true },
  },
  'account.confirmTotp': {
    'code': { type: 'string', required: true, maxLength: 40 },
  },
  'account.removeTotp': {
    'password': { type: 'string', required: true, maxLength: 200, multiline: true },
    'code': { type: 'string', required: true, maxLength: 40 },
  },
  'users.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'password': { type: 'string', minLength: 8, maxLength: 200, multiline: true },
    'role': { type: 'string', minLength: 1, maxLength: 100 },
  },
  'users.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'image': { type: 'string', nullable: true, maxLength: 2000, format: 'url' },
    'country': { type: 'string', nullable: true, minLength: 2, maxLength: 2 },
    'timezone': { type: 'string', nullable: true, minLength: 1, maxLength: 64 },
    'language': { type: 'string', nullable: true, minLength: 2, maxLength: 35 },
    'currency': { type: 'string', nullable: true, minLength: 3, maxLength: 3 },
    'attributes': { type: 'object' },
  },
  'users.replaceTags': {
    'tags': { type: 'array', required: true, minLength: 1, maxLength: 100, maxItems: 100 },
  },
  'users.changeRole': {
    'role': { type: 'string', required: true, maxLength: 100 },
  },
  'users.setFeatures': {
    'features': { type: 'object', required: true },
  },
  'suppressions.create': {
    'email': { type: 'string', required: true, format: 'email' },
    'reason': { type: 'string', maxLength: 1000, multiline: true },
  },
  'domains.create': {
    'domain': { type: 'string', required: true, maxLength: 255 },
  },
  'messages.send': {
    'to': { type: 'any', required: true },
    'from': { type: 'string', format: 'object_id' },
    'subject': { type: 'string', required: true, maxLength: 500 },
    'html': { type: 'string', minLength: 1, maxLength: 250000, multiline: true },
    'text': { type: 'string', minLength: 1, maxLength: 250000, multiline: true },
    'replyTo': { type: 'string', format: 'email' },
    'headers': { type: 'object' },
    'sendAt': { type: 'string', format: 'date' },
  },
  'providers.set': {
    'kind': { type: 'string', required: true, values: ['self-hosted', 'mailgun'] },
    'apiKey': { type: 'string', minLength: 1, maxLength: 500 },
    'region': { type: 'string', values: ['us', 'eu'] },
    'domain': { type: 'string', minLength: 1, maxLength: 255 },
  },
  'senders.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'email': { type: 'string', required: true, maxLength: 254, format: 'email' },
    'replyTo': { type: 'string', nullable: true, maxLength: 254, format: 'email' },
    'delivery': { type: 'string', required: true, values: ['provider', 'hosted', 'smtp', 'oauth'] },
    'smtp': { type: 'object' },
    'smtp.host': { type: 'string', required: true, maxLength: 255 },
    'smtp.port': { type: 'number', required: true },
    'smtp.secure': { type: 'boolean' },
    'smtp.username': { type: 'string', minLength: 1, maxLength: 255 },
    'smtp.password': { type: 'string', minLength: 1, maxLength: 500, multiline: true },
    'oauth': { type: 'object' },
    'oauth.provider': { type: 'string', required: true, values: ['google', 'microsoft'] },
  },
  'senders.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'replyTo': { type: 'string', nullable: true, maxLength: 254, format: 'email' },
    'active': { type: 'boolean' },
    'smtp': { type: 'object' },
    'smtp.host': { type: 'string', minLength: 1, maxLength: 255 },
    'smtp.port': { type: 'number' },
    'smtp.secure': { type: 'boolean' },
    'smtp.username': { type: 'string', nullable: true, minLength: 1, maxLength: 255 },
    'smtp.password': { type: 'string', minLength: 1, maxLength: 500, multiline: true },
  },
  'senders.share': {
    'userIds': { type: 'array', required: true, maxItems: 1000, format: 'object_id' },
  },
  'senders.unshare': {
    'userIds': { type: 'array', required: true, maxItems: 1000, format: 'object_id' },
  },
  'senders.transfer': {
    'userId': { type: 'string', required: true, format: 'object_id' },
  },
  'senders.test': {
    'to': { type: 'string', required: true, maxLength: 254, format: 'email' },
  },
  'senders.finishOauth': {
    'code': { type: 'string', required: true, maxLength: 4000 },
    'state': { type: 'string', required: true, maxLength: 2000 },
    'iss': { type: 'string', maxLength: 1000 },
  },
  'webhooks.create': {
    'name': { type: 'string', required: true, maxLength: 100 },
    'url': { type: 'string', required: true, maxLength: 2000 },
    'description': { type: 'string', maxLength: 500, multiline: true },
    'eventTypes': { type: 'array', maxLength: 100, maxItems: 200 },
    'headers': { type: 'object' },
    'active': { type: 'boolean' },
  },
  'webhooks.update': {
    'name': { type: 'string', minLength: 1, maxLength: 100 },
    'url': { type: 'string', minLength: 1, maxLength: 2000 },
    'description': { type: 'string', maxLength: 500, multiline: true },
    'eventTypes': { type: 'array' },
    'headers': { type: 'object' },
    'active': { type: 'boolean' },
  },
  'webhooks.rotateSecret': {
    'overlapHours': { type: 'number' },
  },
  'webhooks.test': {
    'type': { type: 'string', maxLength: 100 },
  },
  'webhooks.recover': {
    'since': { type: 'string', required: true, format: 'date' },
    'until': { type: 'string', format: 'date' },
    'missed': { type: 'boolean' },
  },
  'imports.start': {
    'importId': { type: 'string', required: true, maxLength: 100 },
    'mapping': { type: 'object', required: true },
    'duplicateStrategy': { type: 'string', values: ['update', 'skip'] },
    'tags': { type: 'array', minLength: 1, maxLength: 100, maxItems: 100 },
    'emptyValues': { type: 'string', values: ['ignore', 'clear'] },
    'listIds': { type: 'array', maxItems: 50, format: 'object_id' },
    'dryRun': { type: 'boolean' },
  },
} as const satisfies Record<string, Record<string, BodyField>>
