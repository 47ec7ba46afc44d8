// Generated from the protos by `npm run generate`. Do not edit.

import type {
  AttributeCreated,
  AttributeDeleted,
  AttributeUpdated,
  AudienceExported,
  BulkCancelled,
  BulkCompleted,
  BulkStarted,
  CampaignCancelled,
  CampaignCreated,
  CampaignDeleted,
  CampaignFailed,
  CampaignFinished,
  CampaignPaused,
  CampaignResumed,
  CampaignRetried,
  CampaignScheduled,
  CampaignStarted,
  CampaignTested,
  CampaignUnscheduled,
  CampaignUpdated,
  CollectionCreated,
  CollectionDeleted,
  CollectionEntryCreated,
  CollectionEntryDeleted,
  CollectionEntryUpdated,
  CollectionUpdated,
  ContactAddedToList,
  ContactBlocked,
  ContactConfirmed,
  ContactCreated,
  ContactDataExported,
  ContactDeleted,
  ContactErased,
  ContactRemovedFromList,
  ContactRestored,
  ContactUnblocked,
  ContactUnsubscribed,
  ContactUpdated,
  DomainChecked,
  DomainCreated,
  DomainDegraded,
  DomainDeleted,
  DomainKeyRotated,
  DomainVerified,
  EmailProgress,
  FeatureCreated,
  FeatureDeleted,
  FeatureUpdated,
  FormSubmitted,
  ImportCancelled,
  ImportCompleted,
  ImportFailed,
  ImportStarted,
  ImportUndoStarted,
  ImportUndone,
  ImportUploaded,
  InvitationAccepted,
  InvitationCreated,
  InvitationDeclined,
  InvitationRevoked,
  LinkClicked,
  LinkCreated,
  LinkDeleted,
  LinkUpdated,
  ListCreated,
  ListDeleted,
  ListUpdated,
  MemberAdded,
  MemberRemoved,
  MemberRoleChanged,
  ProviderDeleted,
  ProviderUpdated,
  RoleDeleted,
  RoleSaved,
  SegmentCreated,
  SegmentDeleted,
  SegmentUpdated,
  SenderCreated,
  SenderDeleted,
  SenderUpdated,
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
  TokenRefused,
  TokenUpdated,
  UserBlocked,
  UserCodeRequested,
  UserCreated,
  UserDeleted,
  UserDeviceRevoked,
  UserEmailChangeRequested,
  UserEmailVerified,
  UserFeaturesChanged,
  UserPasswordRemoved,
  UserPasswordResetRequested,
  UserPasswordSet,
  UserRecoveryCodesRenewed,
  UserRoleChanged,
  UserSecondFactorDisabled,
  UserSecondFactorEnabled,
  UserSecondFactorReset,
  UserSecondFactorStarted,
  UserUnblocked,
  UserUpdated,
  WebhookCreated,
  WebhookDeleted,
  WebhookDisabled,
  WebhookFailing,
  WebhookRecovered,
  WebhookReplayed,
  WebhookTested,
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
  'contact.erased': ContactErased
  'contact.data_exported': ContactDataExported
  'contact.confirmed': ContactConfirmed
  'triggers.audience.added_to_list': ContactAddedToList
  'contact.removed_from_list': ContactRemovedFromList
  'audience.exported': AudienceExported
  'attribute.created': AttributeCreated
  'attribute.updated': AttributeUpdated
  'attribute.deleted': AttributeDeleted
  'contact.restored': ContactRestored
  'audience.bulk_started': BulkStarted
  'audience.bulk_cancelled': BulkCancelled
  'audience.bulk_completed': BulkCompleted
  'list.created': ListCreated
  'list.updated': ListUpdated
  'list.deleted': ListDeleted
  'segment.created': SegmentCreated
  'segment.updated': SegmentUpdated
  'segment.deleted': SegmentDeleted
  'template.created': TemplateCreated
  'template.updated': TemplateUpdated
  'template.deleted': TemplateDeleted
  'campaign.created': CampaignCreated
  'campaign.updated': CampaignUpdated
  'campaign.deleted': CampaignDeleted
  'campaign.scheduled': CampaignScheduled
  'campaign.unscheduled': CampaignUnscheduled
  'campaign.failed': CampaignFailed
  'campaign.tested': CampaignTested
  'campaign.started': CampaignStarted
  'campaign.finished': CampaignFinished
  'campaign.paused': CampaignPaused
  'campaign.resumed': CampaignResumed
  'campaign.retried': CampaignRetried
  'campaign.cancelled': CampaignCancelled
  'link.created': LinkCreated
  'link.updated': LinkUpdated
  'link.deleted': LinkDeleted
  'link.clicked': LinkClicked
  'collection.created': CollectionCreated
  'collection.updated': CollectionUpdated
  'collection.deleted': CollectionDeleted
  'form.submitted': FormSubmitted
  'collection.entry_created': CollectionEntryCreated
  'collection.entry_updated': CollectionEntryUpdated
  'collection.entry_deleted': CollectionEntryDeleted
  'token.created': TokenCreated
  'token.updated': TokenUpdated
  'token.deleted': TokenDeleted
  'token.refused': TokenRefused
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
  'user.password_reset_requested': UserPasswordResetRequested
  'user.code_requested': UserCodeRequested
  'user.email_change_requested': UserEmailChangeRequested
  'user.password_set': UserPasswordSet
  'user.email_verified': UserEmailVerified
  'user.password_removed': UserPasswordRemoved
  'user.second_factor_started': UserSecondFactorStarted
  'user.second_factor_enabled': UserSecondFactorEnabled
  'user.second_factor_disabled': UserSecondFactorDisabled
  'user.second_factor_reset': UserSecondFactorReset
  'user.recovery_codes_renewed': UserRecoveryCodesRenewed
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
  'audience.import_uploaded': ImportUploaded
  'audience.import_started': ImportStarted
  'audience.import_undo_started': ImportUndoStarted
  'audience.import_completed': ImportCompleted
  'audience.import_failed': ImportFailed
  'audience.import_cancelled': ImportCancelled
  'audience.import_undone': ImportUndone
  'email.domain.created': DomainCreated
  'email.domain.deleted': DomainDeleted
  'email.domain.checked': DomainChecked
  'email.domain.key_rotated': DomainKeyRotated
  'email.provider.updated': ProviderUpdated
  'email.provider.deleted': ProviderDeleted
  'email.sender.created': SenderCreated
  'email.sender.updated': SenderUpdated
  'email.sender.deleted': SenderDeleted
  'email.domain.verified': DomainVerified
  'email.domain.degraded': DomainDegraded
  'email.scheduled': EmailProgress
  'email.queued': EmailProgress
  'email.sent': EmailProgress
  'email.delivered': EmailProgress
  'email.opened': EmailProgress
  'email.clicked': EmailProgress
  'email.bounced': EmailProgress
  'email.complained': EmailProgress
  'email.failed': EmailProgress
  'email.cancelled': EmailProgress
  'email.suppressed': EmailProgress
  'suppression.created': SuppressionCreated
  'suppression.deleted': SuppressionDeleted
  'webhook.created': WebhookCreated
  'webhook.updated': WebhookUpdated
  'webhook.deleted': WebhookDeleted
  'webhook.failing': WebhookFailing
  'webhook.disabled': WebhookDisabled
  'webhook.tested': WebhookTested
  'webhook.recovered': WebhookRecovered
  'webhook.replayed': WebhookReplayed
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
  'contact.erased': 'audience',
  'contact.data_exported': 'audience',
  'contact.confirmed': 'audience',
  'triggers.audience.added_to_list': 'audience',
  'contact.removed_from_list': 'audience',
  'audience.exported': 'audience',
  'attribute.created': 'audience',
  'attribute.updated': 'audience',
  'attribute.deleted': 'audience',
  'contact.restored': 'audience',
  'audience.bulk_started': 'audience',
  'audience.bulk_cancelled': 'audience',
  'audience.bulk_completed': 'audience',
  'list.created': 'audience',
  'list.updated': 'audience',
  'list.deleted': 'audience',
  'segment.created': 'audience',
  'segment.updated': 'audience',
  'segment.deleted': 'audience',
  'template.created': 'campaigns',
  'template.updated': 'campaigns',
  'template.deleted': 'campaigns',
  'campaign.created': 'campaigns',
  'campaign.updated': 'campaigns',
  'campaign.deleted': 'campaigns',
  'campaign.scheduled': 'campaigns',
  'campaign.unscheduled': 'campaigns',
  'campaign.failed': 'campaigns',
  'campaign.tested': 'campaigns',
  'campaign.started': 'campaigns',
  'campaign.finished': 'campaigns',
  'campaign.paused': 'campaigns',
  'campaign.resumed': 'campaigns',
  'campaign.retried': 'campaigns',
  'campaign.cancelled': 'campaigns',
  'link.created': 'content',
  'link.updated': 'content',
  'link.deleted': 'content',
  'link.clicked': 'content',
  'collection.created': 'content',
  'collection.updated': 'content',
  'collection.deleted': 'content',
  'form.submitted': 'content',
  'collection.entry_created': 'content',
  'collection.entry_updated': 'content',
  'collection.entry_deleted': 'content',
  'token.created': 'identity',
  'token.updated': 'identity',
  'token.deleted': 'identity',
  'token.refused': 'identity',
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
  'user.password_reset_requested': 'identity',
  'user.code_requested': 'identity',
  'user.email_change_requested': 'identity',
  'user.password_set': 'identity',
  'user.email_verified': 'identity',
  'user.password_removed': 'identity',
  'user.second_factor_started': 'identity',
  'user.second_factor_enabled': 'identity',
  'user.second_factor_disabled': 'identity',
  'user.second_factor_reset': 'identity',
  'user.recovery_codes_renewed': 'identity',
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
  'audience.import_uploaded': 'import',
  'audience.import_started': 'import',
  'audience.import_undo_started': 'import',
  'audience.import_completed': 'import',
  'audience.import_failed': 'import',
  'audience.import_cancelled': 'import',
  'audience.import_undone': 'import',
  'email.domain.created': 'messaging',
  'email.domain.deleted': 'messaging',
  'email.domain.checked': 'messaging',
  'email.domain.key_rotated': 'messaging',
  'email.provider.updated': 'messaging',
  'email.provider.deleted': 'messaging',
  'email.sender.created': 'messaging',
  'email.sender.updated': 'messaging',
  'email.sender.deleted': 'messaging',
  'email.domain.verified': 'messaging',
  'email.domain.degraded': 'messaging',
  'email.scheduled': 'messaging',
  'email.queued': 'messaging',
  'email.sent': 'messaging',
  'email.delivered': 'messaging',
  'email.opened': 'messaging',
  'email.clicked': 'messaging',
  'email.bounced': 'messaging',
  'email.complained': 'messaging',
  'email.failed': 'messaging',
  'email.cancelled': 'messaging',
  'email.suppressed': 'messaging',
  'suppression.created': 'messaging',
  'suppression.deleted': 'messaging',
  'webhook.created': 'webhooks',
  'webhook.updated': 'webhooks',
  'webhook.deleted': 'webhooks',
  'webhook.failing': 'webhooks',
  'webhook.disabled': 'webhooks',
  'webhook.tested': 'webhooks',
  'webhook.recovered': 'webhooks',
  'webhook.replayed': 'webhooks',
} as const satisfies Record<EventType, string>

/** A service that publishes events. */
export type EventContext = (typeof eventContexts)[EventType]
