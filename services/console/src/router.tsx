import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { isStatus, queryClient } from './api.ts'
import { type ImportStep, STEPS } from './imports/draft.ts'
import { readListSearch } from './kit/list-search.ts'
import { type RoleDraft, readDraft } from './roles/matrix.ts'
import { hideConsentCode } from './senders/consent-answer.ts'
import { meQuery } from './session.ts'
import { Failed, NotFound } from './shell/failed.tsx'
import { Shell } from './shell/shell.tsx'
import { hideLinkSecret } from './sign-in/link-secret.ts'

// Before the router reads the address.
hideLinkSecret()
hideConsentCode()

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: Failed })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./sign-in/sign-in.tsx'), 'SignIn'),
  validateSearch: ({ next }): { next?: string } =>
    typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {},
})

/** The pages that mailed links lead to, for anyone. */
const links = [
  createRoute({
    getParentRoute: () => root,
    path: '/set-password',
    component: lazyRouteComponent(() => import('./sign-in/set-password.tsx'), 'SetPassword'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/invitations',
    component: lazyRouteComponent(() => import('./sign-in/invitation.tsx'), 'Invitation'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/verify-email',
    component: lazyRouteComponent(() => import('./sign-in/verify-email.tsx'), 'VerifyEmail'),
  }),
] as const

/** Everything for people who are signed in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery)
    } catch (error) {
      if (isStatus(error, 401))
        throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
      throw error
    }
  },
})

/** A screen within the shell. Its code is loaded when it is first opened. */
function screen<const Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) {
  return createRoute({ getParentRoute: () => shell, path, component, validateSearch: readListSearch })
}

const newRole = createRoute({
  getParentRoute: () => shell,
  path: '/roles/new',
  component: lazyRouteComponent(() => import('./roles/role.tsx'), 'Role'),
  validateSearch: (search: { draft?: unknown }): { draft?: RoleDraft } => {
    const draft = readDraft(search.draft)
    return draft ? { draft } : {}
  },
})

const newImport = createRoute({
  getParentRoute: () => shell,
  path: '/imports/new',
  component: lazyRouteComponent(() => import('./imports/new-import.tsx'), 'NewImport'),
  validateSearch: ({ step }: { step?: unknown }): { step?: ImportStep } => {
    const known = STEPS.find(each => each === step)
    return known ? { step: known } : {}
  },
})

const screens = [
  screen(
    '/',
    lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
  ),
  screen(
    '/contacts',
    lazyRouteComponent(() => import('./contacts/contacts.tsx'), 'Contacts'),
  ),
  screen(
    '/contacts/$id',
    lazyRouteComponent(() => import('./contacts/contact.tsx'), 'Contact'),
  ),
  screen(
    '/lists',
    lazyRouteComponent(() => import('./lists/lists.tsx'), 'Lists'),
  ),
  screen(
    '/lists/$id',
    lazyRouteComponent(() => import('./lists/list.tsx'), 'List'),
  ),
  screen(
    '/segments',
    lazyRouteComponent(() => import('./segments/segments.tsx'), 'Segments'),
  ),
  screen(
    '/segments/$id',
    lazyRouteComponent(() => import('./segments/segment.tsx'), 'Segment'),
  ),
  screen(
    '/imports',
    lazyRouteComponent(() => import('./imports/imports.tsx'), 'Imports'),
  ),
  newImport,
  screen(
    '/imports/$id',
    lazyRouteComponent(() => import('./imports/job.tsx'), 'Job'),
  ),
  screen(
    '/bulk',
    lazyRouteComponent(() => import('./bulk/bulk-jobs.tsx'), 'BulkJobs'),
  ),
  screen(
    '/bulk/$id',
    lazyRouteComponent(() => import('./bulk/bulk-job.tsx'), 'BulkJob'),
  ),
  screen(
    '/attributes',
    lazyRouteComponent(() => import('./attributes/attributes.tsx'), 'Attributes'),
  ),
  screen(
    '/domains',
    lazyRouteComponent(() => import('./domains/domains.tsx'), 'Domains'),
  ),
  screen(
    '/domains/$id',
    lazyRouteComponent(() => import('./domains/domain.tsx'), 'Domain'),
  ),
  screen(
    '/senders',
    lazyRouteComponent(() => import('./senders/senders.tsx'), 'Senders'),
  ),
  screen(
    '/senders/$id',
    lazyRouteComponent(() => import('./senders/sender.tsx'), 'Sender'),
  ),
  screen(
    '/messages',
    lazyRouteComponent(() => import('./messages/messages.tsx'), 'Messages'),
  ),
  screen(
    '/suppressions',
    lazyRouteComponent(() => import('./suppressions/suppressions.tsx'), 'Suppressions'),
  ),
  screen(
    '/campaigns',
    lazyRouteComponent(() => import('./campaigns/campaigns.tsx'), 'Campaigns'),
  ),
  screen(
    '/campaigns/$id',
    lazyRouteComponent(() => import('./campaigns/campaign.tsx'), 'Campaign'),
  ),
  screen(
    '/campaigns/$id/edit/$step',
    lazyRouteComponent(() => import('./campaigns/edit-campaign.tsx'), 'EditCampaign'),
  ),
  screen(
    '/templates',
    lazyRouteComponent(() => import('./templates/templates.tsx'), 'Templates'),
  ),
  screen(
    '/templates/$id',
    lazyRouteComponent(() => import('./templates/template.tsx'), 'Template'),
  ),
  screen(
    '/links',
    lazyRouteComponent(() => import('./links/links.tsx'), 'Links'),
  ),
  screen(
    '/links/$id',
    lazyRouteComponent(() => import('./links/link.tsx'), 'Link'),
  ),
  screen(
    '/collections',
    lazyRouteComponent(() => import('./collections/collections.tsx'), 'Collections'),
  ),
  screen(
    '/collections/$id',
    lazyRouteComponent(() => import('./collections/collection.tsx'), 'Collection'),
  ),
  screen(
    '/connect-account',
    lazyRouteComponent(() => import('./senders/connect-account.tsx'), 'ConnectAccount'),
  ),
  screen(
    '/tokens',
    lazyRouteComponent(() => import('./tokens/tokens.tsx'), 'Tokens'),
  ),
  screen(
    '/tokens/$id',
    lazyRouteComponent(() => import('./tokens/token.tsx'), 'Token'),
  ),
  screen(
    '/roles',
    lazyRouteComponent(() => import('./roles/roles.tsx'), 'Roles'),
  ),
  newRole,
  screen(
    '/roles/$id',
    lazyRouteComponent(() => import('./roles/role.tsx'), 'Role'),
  ),
  screen(
    '/users',
    lazyRouteComponent(() => import('./users/users.tsx'), 'Users'),
  ),
  screen(
    '/users/$id',
    lazyRouteComponent(() => import('./users/user.tsx'), 'User'),
  ),
  screen(
    '/workspaces',
    lazyRouteComponent(() => import('./workspaces/workspaces.tsx'), 'Workspaces'),
  ),
  screen(
    '/workspaces/$id',
    lazyRouteComponent(() => import('./workspaces/workspace.tsx'), 'Workspace'),
  ),
  screen(
    '/webhooks',
    lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'Webhooks'),
  ),
  screen(
    '/webhooks/event-types',
    lazyRouteComponent(() => import('./webhooks/event-types.tsx'), 'EventTypes'),
  ),
  screen(
    '/webhooks/$id',
    lazyRouteComponent(() => import('./webhooks/webhook.tsx'), 'Webhook'),
  ),
  screen(
    '/events',
    lazyRouteComponent(() => import('./events/events.tsx'), 'Events'),
  ),
  screen(
    '/settings',
    lazyRouteComponent(() => import('./settings/settings.tsx'), 'Settings'),
  ),
  screen(
    '/account',
    lazyRouteComponent(() => import('./account/account.tsx'), 'Account'),
  ),
] as const

export const router = createRouter({
  routeTree: root.addChildren([signIn, ...links, shell.addChildren(screens)]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Forms and selections belong to one record. The steps of a record share its screen.
  defaultRemountDeps: ({ params }) => 'id' in params && params.id,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
