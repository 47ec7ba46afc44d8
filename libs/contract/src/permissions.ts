/** The actions of the permission model. The HTTP method decides which one a request needs. */
export const actions = ['read', 'create', 'update', 'delete'] as const
export type Action = (typeof actions)[number]

/** Every resource that a role can grant actions on, with its description. */
export const resources = {
  audience: 'Contacts, their import and export',
  audience_lists: 'Audience lists and their members',
  audience_attributes: 'Definitions of custom attributes',
  email_domains: 'Sending domains and their DNS records',
  email_senders: 'Sender addresses',
  email_provider: 'Credentials of the mail provider',
  email_campaigns: 'Email campaigns',
  emails: 'Single messages',
  email_suppressions: 'Addresses that get no mail',
  webhooks: 'Webhook endpoints and their deliveries',
  events: 'The event log',
  tokens: 'API tokens',
  roles: 'Roles and their permissions',
  users: 'User accounts',
  workspaces: 'Workspaces, their members and invitations',
  features: 'Feature flags',
  collections: 'Collections',
  content: 'Content',
  links: 'Short links',
  assets: 'Assets',
  settings: 'Settings of the organization',
  workflows: 'Workflow definitions and lifecycle: publish, pause, clone, import, emergency stop',
  workflows_versions: 'Published version snapshots of workflows',
  workflows_instances: 'Live and past workflow runs',
  workflows_actions: 'Per-node execution records of workflows',
  workflows_logs: 'Per-attempt logs of workflows',
  workflows_templates: 'Reusable workflow blueprints',
  workflows_trigger_events: 'Trigger queue of workflows, with its dead-letter queue',
  workflows_metrics: 'Execution statistics of workflows',
} as const
export type Resource = keyof typeof resources

/** One permission: a resource and an action. */
export type Permission = `${Resource}.${Action}`

/** The permissions of a caller: `*` for all, or resource.action pairs. */
export type Permissions = '*' | readonly string[]

/** Whether a name is a resource. */
export function isResource(name: string): name is Resource {
  return Object.hasOwn(resources, name)
}

/** Whether a text is a permission, `resource.action`. */
export function isPermission(text: string): text is Permission {
  const [resource = '', action, ...more] = text.split('.')
  return isResource(resource) && actions.some(each => each === action) && more.length === 0
}

/** Whether these permissions allow an action on a resource. */
export function allows(permissions: Permissions, resource: Resource, action: Action): boolean {
  return permissions === '*' || permissions.includes(`${resource}.${action}`)
}

/** Returns the action that an HTTP method needs. */
export function actionOf(verb: string): Action {
  switch (verb) {
    case 'GET':
    case 'HEAD':
      return 'read'
    case 'POST':
      return 'create'
    case 'PATCH':
    case 'PUT':
      return 'update'
    case 'DELETE':
      return 'delete'
    default:
      throw new RangeError(`no action for HTTP method ${verb}`)
  }
}
