// Generated from the protos by `npm run generate`. Do not edit.

import type {
  CampaignCancelled,
  CampaignFinished,
  CampaignPaused,
  CampaignStarted,
  CollectionEntryCreated,
  CollectionEntryDeleted,
  CollectionEntryUpdated,
  ContactAddedToList,
  ContactBlocked,
  ContactConfirmed,
  ContactCreated,
  ContactDeleted,
  ContactUnblocked,
  ContactUnsubscribed,
  ContactUpdated,
  DomainDegraded,
  DomainVerified,
  EmailProgress,
  FeatureCreated,
  FeatureDeleted,
  FeatureUpdated,
  FormSubmitted,
  ImportCancelled,
  ImportCompleted,
  ImportFailed,
  ImportUndone,
  InvitationAccepted,
  InvitationCreated,
  InvitationDeclined,
  InvitationRevoked,
  LinkClicked,
  ListCreated,
  ListDeleted,
  ListUpdated,
  MemberAdded,
  MemberRemoved,
  MemberRoleChanged,
  RoleDeleted,
  RoleSaved,
  SegmentCreated,
  SegmentDeleted,
  SegmentUpdated,
  SessionCreated,
  SessionEnded,
  SessionExchanged,
  SessionFailed,
  SessionImpersonated,
  SettingsUpdated,
  SuppressionCreated,
  SuppressionDeleted,
  TemplateCreated,
  TemplateDeleted,
  TemplateUpdated,
  TokenCreated,
  TokenDeleted,
  TokenUpdated,
  UserBlocked,
  UserCreated,
  UserDeleted,
  UserDeviceRevoked,
  UserEmailVerified,
  UserFeaturesChanged,
  UserPasswordRemoved,
  UserPasswordSet,
  UserRoleChanged,
  UserSecondFactorDisabled,
  UserSecondFactorEnabled,
  UserUnblocked,
  UserUpdated,
  WebhookCreated,
  WebhookDeleted,
  WebhookDisabled,
  WebhookFailing,
  WebhookUpdated,
  WorkspaceCreated,
  WorkspaceDeleted,
  WorkspaceUpdated,
} from './events-v1.ts'

/** The data of every event by its type. */
export type Events = {
  'contact.created': ContactCreated
  'contact.updated': ContactUpdated
  'contact.unsubscribed': ContactUnsubscribed
  'contact.blocked': ContactBlocked
  'contact.unblocked': ContactUnblocked
  'contact.deleted': ContactDeleted
  'contact.confirmed': ContactConfirmed
  'triggers.audience.added_to_list': ContactAddedToList
  'list.created': ListCreated
  'list.updated': ListUpdated
  'list.deleted': ListDeleted
  'segment.created': SegmentCreated
  'segment.updated': SegmentUpdated
  'segment.deleted': SegmentDeleted
  'template.created': TemplateCreated
  'template.updated': TemplateUpdated
  'template.deleted': TemplateDeleted
  'campaign.started': CampaignStarted
  'campaign.finished': CampaignFinished
  'campaign.paused': CampaignPaused
  'campaign.cancelled': CampaignCancelled
  'link.clicked': LinkClicked
  'form.submitted': FormSubmitted
  'collection.entry_created': CollectionEntryCreated
  'collection.entry_updated': CollectionEntryUpdated
  'collection.entry_deleted': CollectionEntryDeleted
  'token.created': TokenCreated
  'token.updated': TokenUpdated
  'token.deleted': TokenDeleted
  'role.saved': RoleSaved
  'role.deleted': RoleDeleted
  'session.created': SessionCreated
  'session.impersonated': SessionImpersonated
  'session.exchanged': SessionExchanged
  'session.ended': SessionEnded
  'session.failed': SessionFailed
  'user.created': UserCreated
  'user.updated': UserUpdated
  'user.role_changed': UserRoleChanged
  'user.blocked': UserBlocked
  'user.unblocked': UserUnblocked
  'user.deleted': UserDeleted
  'user.device_revoked': UserDeviceRevoked
  'user.password_set': UserPasswordSet
  'user.email_verified': UserEmailVerified
  'user.password_removed': UserPasswordRemoved
  'user.second_factor_enabled': UserSecondFactorEnabled
  'user.second_factor_disabled': UserSecondFactorDisabled
  'user.features_changed': UserFeaturesChanged
  'workspace.created': WorkspaceCreated
  'workspace.updated': WorkspaceUpdated
  'workspace.deleted': WorkspaceDeleted
  'member.added': MemberAdded
  'member.role_changed': MemberRoleChanged
  'member.removed': MemberRemoved
  'invitation.created': InvitationCreated
  'invitation.accepted': InvitationAccepted
  'invitation.declined': InvitationDeclined
  'invitation.revoked': InvitationRevoked
  'settings.updated': SettingsUpdated
  'feature.created': FeatureCreated
  'feature.updated': FeatureUpdated
  'feature.deleted': FeatureDeleted
  'audience.import_completed': ImportCompleted
  'audience.import_failed': ImportFailed
  'audience.import_cancelled': ImportCancelled
  'audience.import_undone': ImportUndone
  'email.domain.verified': DomainVerified
  'email.domain.degraded': DomainDegraded
  'email.queued': EmailProgress
  'email.sent': EmailProgress
  'email.delivered': EmailProgress
  'email.opened': EmailProgress
  'email.clicked': EmailProgress
  'email.bounced': EmailProgress
  'email.complained': EmailProgress
  'email.failed': EmailProgress
  'email.suppressed': EmailProgress
  'suppression.created': SuppressionCreated
  'suppression.deleted': SuppressionDeleted
  'webhook.created': WebhookCreated
  'webhook.updated': WebhookUpdated
  'webhook.deleted': WebhookDeleted
  'webhook.failing': WebhookFailing
  'webhook.disabled': WebhookDisabled
}

/** The type of an event. */
export type EventType = keyof Events

/** The service that publishes each event. */
export const eventContexts = {
  'contact.created': 'audience',
  'contact.updated': 'audience',
  'contact.unsubscribed': 'audience',
  'contact.blocked': 'audience',
  'contact.unblocked': 'audience',
  'contact.deleted': 'audience',
  'contact.confirmed': 'audience',
  'triggers.audience.added_to_list': 'audience',
  'list.created': 'audience',
  'list.updated': 'audience',
  'list.deleted': 'audience',
  'segment.created': 'audience',
  'segment.updated': 'audience',
  'segment.deleted': 'audience',
  'template.created': 'campaigns',
  'template.updated': 'campaigns',
  'template.deleted': 'campaigns',
  'campaign.started': 'campaigns',
  'campaign.finished': 'campaigns',
  'campaign.paused': 'campaigns',
  'campaign.cancelled': 'campaigns',
  'link.clicked': 'content',
  'form.submitted': 'content',
  'collection.entry_created': 'content',
  'collection.entry_updated': 'content',
  'collection.entry_deleted': 'content',
  'token.created': 'identity',
  'token.updated': 'identity',
  'token.deleted': 'identity',
  'role.saved': 'identity',
  'role.deleted': 'identity',
  'session.created': 'identity',
  'session.impersonated': 'identity',
  'session.exchanged': 'identity',
  'session.ended': 'identity',
  'session.failed': 'identity',
  'user.created': 'identity',
  'user.updated': 'identity',
  'user.role_changed': 'identity',
  'user.blocked': 'identity',
  'user.unblocked': 'identity',
  'user.deleted': 'identity',
  'user.device_revoked': 'identity',
  'user.password_set': 'identity',
  'user.email_verified': 'identity',
  'user.password_removed': 'identity',
  'user.second_factor_enabled': 'identity',
  'user.second_factor_disabled': 'identity',
  'user.features_changed': 'identity',
  'workspace.created': 'identity',
  'workspace.updated': 'identity',
  'workspace.deleted': 'identity',
  'member.added': 'identity',
  'member.role_changed': 'identity',
  'member.removed': 'identity',
  'invitation.created': 'identity',
  'invitation.accepted': 'identity',
  'invitation.declined': 'identity',
  'invitation.revoked': 'identity',
  'settings.updated': 'identity',
  'feature.created': 'identity',
  'feature.updated': 'identity',
  'feature.deleted': 'identity',
  'audience.import_completed': 'import',
  'audience.import_failed': 'import',
  'audience.import_cancelled': 'import',
  'audience.import_undone': 'import',
  'email.domain.verified': 'messaging',
  'email.domain.degraded': 'messaging',
  'email.queued': 'messaging',
  'email.sent': 'messaging',
  'email.delivered': 'messaging',
  'email.opened': 'messaging',
  'email.clicked': 'messaging',
  'email.bounced': 'messaging',
  'email.complained': 'messaging',
  'email.failed': 'messaging',
  'email.suppressed': 'messaging',
  'suppression.created': 'messaging',
  'suppression.deleted': 'messaging',
  'webhook.created': 'webhooks',
  'webhook.updated': 'webhooks',
  'webhook.deleted': 'webhooks',
  'webhook.failing': 'webhooks',
  'webhook.disabled': 'webhooks',
} as const satisfies Record<EventType, string>

/** A service that publishes events. */
export type EventContext = (typeof eventContexts)[EventType]
